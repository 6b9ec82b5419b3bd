import type { ServerHttp2Stream } from "node:http2";
import { expect, test } from "vitest";
import { Contention } from "../../src/outbound/contention.ts";
import { attempt } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";
import { respond, stage } from "./_stage.ts";

const QUIET_MS = 1_000;

test("an attempt is alone once no other has run for a second", () => {
  let now = 0;
  const contention = new Contention({ now: () => now });
  contention.began();
  expect(contention.isAlone()).toBe(true);
  contention.began();
  expect(contention.isAlone()).toBe(false);
  now += QUIET_MS;
  expect(contention.isAlone()).toBe(false);
  contention.ended();
  expect(contention.isAlone()).toBe(false);
  now += QUIET_MS - 1;
  expect(contention.isAlone()).toBe(false);
  now++;
  expect(contention.isAlone()).toBe(true);
});

test("attempts that come and go beside it count, one before it does not", () => {
  let now = 0;
  const contention = new Contention({ now: () => now });
  contention.began();
  for (let calls = 0; calls < 5; calls++) {
    now += QUIET_MS - 1;
    contention.began();
    contention.ended();
    expect(contention.isAlone()).toBe(false);
  }
  now += QUIET_MS;
  expect(contention.isAlone()).toBe(true);
  contention.ended();
  contention.began();
  expect(contention.isAlone()).toBe(true);
});

test("an attempt counts from its start until its outcome was sent", async () => {
  let now = 0;
  const contention = new Contention({ now: () => now });
  const streams: ServerHttp2Stream[] = [];
  const { bench } = await stage((stream) => {
    respond(stream);
    streams.push(stream);
  }, { contention });
  bench.attempts.start(attempt());
  expect(contention.isAlone()).toBe(true);
  await until(() => streams.length === 1);
  streams[0]?.end(say.suspend(1));
  await until(() => bench.ended.length === 1);
  expect(contention.isAlone()).toBe(false);
  bench.attempts.start(attempt());
  expect(contention.isAlone()).toBe(true);
  const third = attempt();
  bench.attempts.start(third);
  expect(contention.isAlone()).toBe(false);
  bench.attempts.abort({ type: "abort", id: third.invocation.id, attempt: 1 });
  expect(contention.isAlone()).toBe(false);
  now += QUIET_MS;
  expect(contention.isAlone()).toBe(true);
});
