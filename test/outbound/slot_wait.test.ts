import { expect, test } from "vitest";
import { attempt, Bench, deploymentAt, join } from "./_attempts.ts";
import { h2Endpoint, until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";
import type { ServerHttp2Stream } from "node:http2";

test("an attempt says with each event how long it waited for its slot", async () => {
  const open: ServerHttp2Stream[] = [];
  const endpoint = await h2Endpoint((stream) => {
    const type = "application/vnd.restate.invocation.v6";
    stream.respond({ ":status": 200, "content-type": type });
    open.push(stream);
  });
  const bench = new Bench([deploymentAt(endpoint.uri)], { concurrencyMax: 1 });
  const { attempts } = bench;
  const finish = (at: number) => open[at]?.end(join(say.output("ok"), say.end()));
  const [a, b] = [attempt(), attempt()];
  const since = Date.now();
  for (const effect of [a, b]) attempts.start(effect);
  await until(() => open.length === 1 && Date.now() > since + 5);
  finish(0);
  await until(() => bench.events.some(({ type }) => type === "slotFree"));
  attempts.start(b);
  await until(() => open.length === 2);
  finish(1);
  const ended = () => bench.events.filter((event) => event.type === "attemptEnded");
  await until(() => ended().length === 2);
  const [first, second] = ended();
  expect(first?.site).not.toHaveProperty("waitedMs");
  const waitedMs = second?.site?.waitedMs ?? 0;
  expect(waitedMs).toBeGreaterThan(0);
  expect(waitedMs).toBeLessThanOrEqual(Date.now() - since);
  const frames = bench.events.find((event) =>
    event.type === "framesReceived" && event.id === b.invocation.id
  );
  expect(frames).toMatchObject({ site: { waitedMs } });
  await bench.close();
  await endpoint.close();
});
