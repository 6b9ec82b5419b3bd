import { createHash } from "node:crypto";
import http from "node:http";
import { expect, test } from "vitest";
import type { Command } from "../../src/model/command.ts";
import type { Entry } from "../../src/model/journal.ts";
import { attempt, Bench, deploymentAt, join } from "./_attempts.ts";
import { h1Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { Frames, say } from "./_scripts.ts";
import { cleanups, respond, V6 } from "./_stage.ts";

const MIB = 1024 * 1024;
const value = new Uint8Array(32 * MIB);
for (let i = 0; i < value.length; i++) value[i] = i * 7 ^ i >>> 11;
const digest = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest("hex");

type Answer = (frames: Frames) => Uint8Array;

/** An endpoint that reads its whole request, and then responds. */
function endpoint(version: "HTTP/1.1" | "HTTP/2.0", answer: Answer) {
  const read = (request: NodeJS.ReadableStream, done: (bytes: Uint8Array) => void) => {
    const frames = new Frames();
    request.on("data", (data: Uint8Array) => frames.push(data));
    request.on("end", () => done(answer(frames)));
  };
  return version === "HTTP/2.0"
    ? h2Endpoint((stream) => {
      respond(stream);
      read(stream, (bytes) => stream.end(bytes));
    })
    : h1Endpoint((request: http.IncomingMessage, response) => {
      response.writeHead(200, { "content-type": V6 });
      read(request, (bytes) => response.end(bytes));
    });
}

async function play(version: "HTTP/1.1" | "HTTP/2.0", answer: Answer): Promise<Bench> {
  const server = await endpoint(version, answer);
  const mode = "requestResponse";
  const bench = new Bench([deploymentAt(server.uri, { httpVersion: version, mode })]);
  cleanups.push(() => server.close(), () => bench.close());
  return bench;
}

for (const version of ["HTTP/1.1", "HTTP/2.0"] as const) {
  test(`${version}: input, state and a journal of 32 MiB each arrive as they are`, async () => {
    const seen: { types?: number[]; tails?: string[] } = {};
    const bench = await play(version, ({ types, bodies }) => {
      seen.types = types;
      seen.tails = bodies.slice(1).map((body) => digest(body.subarray(body.length - value.length)));
      return join(say.output("ok"), say.end());
    });
    const input: Entry = { kind: "input", headers: [], value };
    const entries: Entry[] = [input, { kind: "command", type: 0x40c, bytes: value }];
    const state = { partial: false, pairs: [{ name: "v", value }] };
    bench.attempts.start(attempt({ service: "Obj", key: "k", entries, state }));
    await until(() => bench.ended.length > 0);
    expect(bench.ended[0]?.outcome).toEqual({ kind: "ended" });
    expect(seen).toEqual({ types: [0, 0x400, 0x40c], tails: Array(2).fill(digest(value)) });
  }, 20_000);

  test(`${version}: an output within the limit is received, one beyond is RT0003`, async () => {
    for (const [size, code] of [[32 * MIB - 100, undefined], [32 * MIB, "RT0003"]] as const) {
      const output = () => say.output("x".repeat(size));
      const bench = await play(version, () => join(output(), say.end()));
      bench.attempts.start(attempt());
      await until(() => bench.ended.length > 0);
      const outcome = bench.ended[0]?.outcome;
      expect(outcome?.kind === "failed" ? outcome.failure.code : undefined).toBe(code);
      const [output1] = bench.received.flatMap(({ frames }) => frames) as (Command | undefined)[];
      const received = output1?.kind === "output" && output1.result.kind === "value"
        ? output1.result.value.length
        : undefined;
      expect(received).toBe(code ? undefined : size);
    }
  }, 20_000);
}
