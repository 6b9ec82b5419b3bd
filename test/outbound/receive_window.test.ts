import type { Writable } from "node:stream";
import { expect, test } from "vitest";
import type { Command } from "../../src/model/command.ts";
import { Contention } from "../../src/outbound/contention.ts";
import type { OutboundDeps, OutboundOptions } from "../../src/outbound/options.ts";
import { attempt, Bench, deploymentAt, join, realClock } from "./_attempts.ts";
import { h1Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";
import { cleanups, respond, V6 } from "./_stage.ts";

const VERSIONS = ["HTTP/1.1", "HTTP/2.0"] as const;

/** An endpoint that responds with `write`, and attempts with a window of 100 frames. */
async function play(
  version: typeof VERSIONS[number],
  write: (stream: Writable) => void,
  more: Pick<OutboundOptions, "burstFramesMax"> & Pick<OutboundDeps, "contention"> = {
    burstFramesMax: 10_000,
  },
): Promise<Bench> {
  const endpoint = version === "HTTP/2.0"
    ? await h2Endpoint((stream) => (respond(stream), stream.resume(), write(stream)))
    : await h1Endpoint((request, response) => {
      response.writeHead(200, { "content-type": V6 });
      request.resume();
      write(response);
    });
  const mode = "requestResponse";
  const bench = new Bench([deploymentAt(endpoint.uri, { httpVersion: version, mode })], {
    unackedFramesMax: 100,
    ...more,
  });
  cleanups.push(() => endpoint.close(), () => bench.close());
  bench.attempts.start(attempt());
  return bench;
}

const completions = (frames: readonly Command[]) =>
  frames.map((frame) => "completion" in frame ? frame.completion : 0);

for (const version of VERSIONS) {
  test(`${version}: many small messages are read one window at a time, each once the last is durable`, async () => {
    const COUNT = 5_050;
    let isSent = false;
    const runs = Array.from({ length: COUNT }, (_, i) => say.run(i + 1));
    const bench = await play(version, (stream) => {
      stream.end(join(...runs, say.suspend(1)), () => isSent = true);
    });
    // All of it fits into the buffers of the network while the reader is paused.
    await until(() => isSent && bench.received.length > 0);
    const received = () => bench.received.flatMap(({ frames }) => frames);
    for (let settled = 0; settled < COUNT;) {
      await until(() => received().length > settled);
      // Counted right before they are settled: the poll may have been followed by another chunk.
      const count = received().length;
      // One more may have been collected from several chunks.
      expect(count - settled).toBeLessThanOrEqual(101);
      if (count < COUNT) expect(bench.ended).toEqual([]);
      settled = count;
      bench.settle();
    }
    await until(() => bench.ended.length > 0);
    expect(completions(received())).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1));
    expect(bench.ended).toMatchObject([{ outcome: { kind: "suspended" } }]);
  });

  test.for([
    { company: "others", least: 1, most: 8, after: 4 },
    { company: "none", least: 90, most: 101, after: 3 },
  ])(
    `${version}: after a burst beside $company, windows have $least to $most messages`,
    async (wanted) => {
      const COUNT = 600;
      const runs = Array.from({ length: COUNT }, (_, i) => say.run(i + 1));
      const contention = new Contention(realClock);
      // As an attempt of another partition does.
      if (wanted.company === "others") contention.began();
      const write = (stream: Writable) => void stream.end(join(...runs, say.suspend(1)));
      const bench = await play(version, write, { burstFramesMax: 250, contention });
      const received = () => bench.received.reduce((sum, { frames }) => sum + frames.length, 0);
      const taken: number[] = [];
      for (let settled = 0; settled < COUNT; bench.settle()) {
        const count = await until(() => received() > settled && received());
        taken.push(count - settled);
        settled = count;
      }
      // One more may have been collected from several chunks.
      const [burst, sustained] = [taken.slice(0, 2), taken.slice(wanted.after, -1)];
      expect(Math.min(...burst)).toBeGreaterThan(90);
      expect(Math.min(...sustained)).toBeGreaterThanOrEqual(wanted.least);
      expect(Math.max(...sustained)).toBeLessThanOrEqual(wanted.most);
      await until(() => bench.ended.length > 0);
    },
  );

  test(`${version}: an endpoint that writes without end is paused until its messages are durable`, async () => {
    const PIECE = join(...Array.from({ length: 200 }, () => say.run(7, "x".repeat(300))));
    let accepted = 0, blocked = 0;
    const bench = await play(version, (stream) => {
      const more = () => {
        // Bytes that `write` takes beyond its buffer are not sent yet: only `drain` says so.
        while (stream.write(PIECE)) accepted += PIECE.length;
        blocked++;
        stream.once("drain", () => (accepted += PIECE.length, more()));
      };
      more();
    });
    // The endpoint stops before it has sent what the network buffers for a paused reader: kernel
    // buffers and one window of the stream.
    let [before, still] = [-1, 0];
    await until(() => {
      still = accepted === before && blocked > 0 ? still + 1 : 0;
      before = accepted;
      return still > 100;
    });
    expect(accepted).toBeLessThan(24 * 1024 * 1024);
    const waiting = bench.received.reduce((sum, { frames }) => sum + frames.length, 0);
    expect([100, 101]).toContain(waiting);
    await until(() => {
      bench.settle();
      return accepted > before;
    });
    for (const { frames } of bench.received) expect(frames.length).toBeLessThanOrEqual(101);
  });

  test(`${version}: messages before a broken connection are sent as events, then its end`, async () => {
    const bench = await play(version, (stream) => {
      stream.end(join(...Array.from({ length: 250 }, (_, i) => say.run(i + 1))));
    });
    await until(() => {
      bench.settle();
      return bench.ended.length > 0;
    });
    const received = bench.received.flatMap(({ frames }) => frames);
    expect(completions(received)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
    expect(bench.ended).toMatchObject([{ outcome: { kind: "failed" } }]);
    expect(bench.events.at(-1)).toBe(bench.ended[0]);
  });
}

test("an abort while the window is full drops the undecoded messages", async () => {
  const bench = await play("HTTP/2.0", (stream) => {
    stream.end(join(...Array.from({ length: 250 }, (_, i) => say.run(i + 1)), say.end()));
  });
  await until(() => bench.received.reduce((sum, { frames }) => sum + frames.length, 0) >= 100);
  const id = bench.received[0]?.id ?? "";
  const before = bench.events.length;
  bench.attempts.abort({ type: "abort", id, attempt: 1 });
  bench.settle();
  expect(bench.events).toHaveLength(before);
});

test("an output that fills the window and the end after it are sent together", async () => {
  const bench = await play("HTTP/2.0", (stream) => {
    const runs = Array.from({ length: 99 }, (_, i) => say.run(i + 1));
    stream.end(join(...runs, say.output("ok"), say.end()));
  });
  await until(() => bench.ended.length > 0);
  expect(bench.ended).toMatchObject([{ outcome: { kind: "ended" } }]);
});
