import type { ServerHttp2Stream } from "node:http2";
import { expect, test } from "vitest";
import { attempt, type Bench, join } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";
import { respond, stage, timeouts } from "./_stage.ts";

const message = "An endpoint has not sent a message yet";

/** Accepts every attempt, and sends `first` on the first of them. */
async function silent(first?: Uint8Array, deploy = {}, path = ""): Promise<Bench> {
  let count = 0;
  const { bench } = await stage((stream: ServerHttp2Stream) => {
    stream.resume();
    respond(stream);
    if (first && count++ === 0) stream.end(first);
  }, { firstMessageMs: 20, drainMs: 20, deploy, path });
  return bench;
}

test("a deployment that accepts an attempt and sends nothing is logged, with what to try", async () => {
  const bench = await silent();
  const effect = attempt();
  bench.attempts.start(effect);
  await until(() => bench.logged.length > 0);
  expect(bench.logged).toEqual([{
    message,
    deployment: "dp_1",
    uri: expect.stringContaining("http://"),
    service: "Svc",
    handler: "run",
    invocation: effect.invocation.id,
    silentMs: expect.any(Number),
    advice: expect.stringContaining("use Node 24"),
  }]);
  expect(bench.events).toEqual([]);
});

test("its address is logged without the values of its query", async () => {
  const bench = await silent(undefined, {}, "/?key=a-secret");
  bench.attempts.start(attempt());
  await until(() => bench.logged.length > 0);
  expect(bench.logged[0]!["uri"]).toMatch(/^http:\S+\?key=\*\*\*$/);
});

test("it is logged at intervals, however many of its attempts send nothing", async () => {
  // The test sees the abort timeout pass, and by then warnings were due.
  const bench = await silent(undefined, { options: timeouts(60, 60) });
  for (let count = 0; count < 5; count++) bench.attempts.start(attempt());
  await until(() => bench.ended.length === 5);
  expect(bench.logged.map((one) => one["message"])).toEqual([message]);
});

test("one that has sent a message before is not logged", async () => {
  const bench = await silent(join(say.output("ok"), say.end()), { options: timeouts(60, 60) });
  bench.attempts.start(attempt());
  await until(() => bench.ended.length === 1);
  bench.attempts.start(attempt());
  await until(() => bench.ended.length === 2);
  expect(bench.logged).toEqual([]);
});

test("one in request-response mode is not logged, since it responds when it is done", async () => {
  const bench = await silent(undefined, { mode: "requestResponse", options: timeouts(60, 60) });
  bench.attempts.start(attempt());
  await until(() => bench.ended.length === 1);
  expect(bench.logged).toEqual([]);
});
