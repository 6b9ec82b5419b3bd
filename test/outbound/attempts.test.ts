import type { ServerHttp2Stream } from "node:http2";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Failed } from "../../src/outbound/failed.ts";
import { attempt, Bench, deploymentAt, join } from "./_attempts.ts";
import { type Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";

let endpoint: Endpoint;
let bench: Bench;
/** Streams that the endpoint has accepted and not answered, and those that were reset. */
let open: ServerHttp2Stream[] = [];
let reset: ServerHttp2Stream[] = [];

beforeEach(async () => {
  const [accepted, canceled]: [ServerHttp2Stream[], ServerHttp2Stream[]] = [[], []];
  [open, reset] = [accepted, canceled];
  endpoint = await h2Endpoint((stream) => {
    stream.respond({
      ":status": 200,
      "content-type": "application/vnd.restate.invocation.v6",
      "x-restate-server": "sdk/1.2.3",
    });
    accepted.push(stream);
    stream.on("close", () => stream.rstCode === 8 && canceled.push(stream));
  });
});
afterEach(async () => {
  await bench.close();
  await endpoint.close();
});

function started(options: ConstructorParameters<typeof Bench>[1] = {}): Bench {
  return bench = new Bench([deploymentAt(endpoint.uri)], options);
}

const finish = (stream: ServerHttp2Stream | undefined) =>
  stream?.end(join(say.output("ok"), say.end()));
const slots = () => bench.events.filter((event) => event.type === "slotFree");

test("without a free slot an attempt is asked for again when there is one", async () => {
  const { attempts } = started({ concurrencyMax: 2 });
  const [a, b, c, d] = [attempt(), attempt(), attempt({ number: 3 }), attempt()];
  for (const effect of [a, b, c, d]) attempts.start(effect);
  await until(() => open.length === 2);
  expect(attempts.load).toEqual({ running: 2, waiting: 2 });
  expect(attempts.status(c.invocation.id)).toEqual({ kind: "ready" });
  finish(open[0]);
  await until(() => slots().length === 1);
  expect(slots()).toEqual([{ type: "slotFree", id: c.invocation.id, attempt: 3 }]);
  // The slot is reserved: an attempt that starts now waits.
  const e = attempt();
  attempts.start(e);
  expect(attempts.status(e.invocation.id)).toEqual({ kind: "ready" });
  attempts.start(c);
  expect(attempts.status(c.invocation.id)).toMatchObject({ kind: "running" });
  await until(() => open.length === 3);
});

test("a reserved slot that is not used goes to the next attempt", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const [a, b, c] = [attempt(), attempt(), attempt()];
  for (const effect of [a, b, c]) attempts.start(effect);
  await until(() => open.length === 1);
  finish(open[0]);
  await until(() => slots().length === 1);
  bench.settle();
  await until(() => slots().length === 2);
  expect(slots().map(({ id }) => id)).toEqual([b.invocation.id, c.invocation.id]);
});

test("an attempt that was aborted while it waited is not asked for", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const [a, b, c] = [attempt(), attempt(), attempt()];
  for (const effect of [a, b, c]) attempts.start(effect);
  attempts.abort({ type: "abort", id: b.invocation.id, attempt: 1 });
  await until(() => open.length === 1);
  finish(open[0]);
  await until(() => slots().length === 1);
  expect(slots()[0]?.id).toBe(c.invocation.id);
});

test("calls of a running handler do not wait behind many new callers", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const origin = { by: "service", id: "inv_1", target: "Svc/run" } as const;
  const [a, b, c, called] = [attempt(), attempt(), attempt(), attempt({ origin })];
  for (const effect of [a, b, c, called]) attempts.start(effect);
  await until(() => open.length === 1);
  finish(open[0]);
  await until(() => slots().length === 1);
  bench.settle();
  await until(() => slots().length === 2);
  expect(slots().map(({ id }) => id)).toEqual([b.invocation.id, called.invocation.id]);
});

test("records of a subscription do not wait behind many of another one", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const of = (id: string) => attempt({ origin: { by: "subscription", id } });
  const [running, a, b, other] = [attempt(), of("sub_1a"), of("sub_1a"), of("sub_1b")];
  for (const effect of [running, a, b, other]) attempts.start(effect);
  await until(() => open.length === 1);
  finish(open[0]);
  await until(() => slots().length === 1);
  bench.settle();
  await until(() => slots().length === 2);
  expect(slots().map(({ id }) => id)).toEqual([a, other].map((one) => one.invocation.id));
});

test("an attempt that waits for a slot goes before those of a lower priority", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const [running, low, usual, high] = [
    attempt(),
    attempt({ priority: 0 }),
    attempt(),
    attempt({ priority: 9 }),
  ];
  for (const effect of [running, low, usual, high]) attempts.start(effect);
  await until(() => open.length === 1);
  finish(open[0]);
  for (let count = 1; count <= 3; count++) {
    await until(() => slots().length === count);
    bench.settle();
  }
  expect(slots().map(({ id }) => id)).toEqual([high, usual, low].map((one) => one.invocation.id));
});

test("with every level worth a millisecond the attempt that waits longest goes first", async () => {
  const { attempts } = started({ concurrencyMax: 1, priorityAgingMs: 1 });
  const [running, low, high] = [attempt(), attempt({ priority: 0 }), attempt({ priority: 9 })];
  for (const effect of [running, low]) attempts.start(effect);
  const since = Date.now();
  await until(() => open.length === 1 && Date.now() > since + 10);
  attempts.start(high);
  finish(open[0]);
  await until(() => slots().length === 1);
  expect(slots()[0]?.id).toBe(low.invocation.id);
});

test("invocations that have run before do not wait behind new ones, and take turns", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const [running, a, b] = [attempt(), attempt(), attempt()];
  const [resumed, another] = [attempt({ number: 2 }), attempt({ number: 7 })];
  for (const effect of [running, a, b, resumed, another]) attempts.start(effect);
  await until(() => open.length === 1);
  finish(open[0]);
  for (let count = 1; count <= 4; count++) {
    await until(() => slots().length === count);
    bench.settle();
  }
  expect(slots().map(({ id }) => id))
    .toEqual([a, resumed, b, another].map((one) => one.invocation.id));
});

test("a later attempt of the same invocation replaces the older one", async () => {
  const { attempts } = started();
  const older = attempt();
  const { id } = older.invocation;
  attempts.start(older);
  attempts.start(older);
  await until(() => open.length === 1);
  attempts.start({ ...older, attempt: 2 });
  await until(() => open.length === 2 && reset.length === 1);
  attempts.start(older);
  finish(open[1]);
  await until(() => bench.ended.length > 0);
  expect(bench.ended).toMatchObject([{ id, attempt: 2, outcome: { kind: "ended" } }]);
  expect(open).toHaveLength(2);
});

test("an aborted attempt is reset and sends no event; a newer one is not aborted", async () => {
  const { attempts } = started();
  const effect = attempt({ number: 5 });
  const { id } = effect.invocation;
  attempts.start(effect);
  await until(() => open.length === 1);
  attempts.abort({ type: "abort", id, attempt: 4 });
  expect(attempts.status(id)).toBeDefined();
  attempts.abort({ type: "abort", id, attempt: 5 });
  expect(attempts.status(id)).toBeUndefined();
  await until(() => reset.length === 1);
  expect(bench.events).toEqual([]);
});

test("an attempt that is asked to suspend while it waits for a slot is asked for without one", async () => {
  const { attempts } = started({ concurrencyMax: 1 });
  const [a, b, c] = [attempt(), attempt({ number: 2 }), attempt()];
  for (const effect of [a, b, c]) attempts.start(effect);
  await until(() => open.length === 1);
  const { id } = b.invocation;
  attempts.yield({ type: "yield", id, attempt: 1 });
  attempts.yield({ type: "yield", id: "inv_1nobody", attempt: 2 });
  expect(slots()).toEqual([]);
  attempts.yield({ type: "yield", id, attempt: 2 });
  attempts.yield({ type: "yield", id, attempt: 2 });
  expect(slots()).toEqual([{ type: "slotFree", id, attempt: 2 }]);
  expect(attempts.status(id)).toBeUndefined();
  finish(open[0]);
  await until(() => slots().length === 2);
  expect(slots()[1]?.id).toBe(c.invocation.id);
  // The slot is reserved for `c`: an attempt that was asked for without one, and starts all the
  // same, waits.
  attempts.start(b);
  expect(attempts.status(id)).toEqual({ kind: "ready" });
});

test("running attempts are listed", async () => {
  const { attempts } = started();
  const effect = attempt();
  const { id } = effect.invocation;
  const before = Date.now();
  attempts.start(effect);
  expect(attempts.status(id)).toMatchObject({ kind: "running", deployment: "dp_1", protocol: 6 });
  await until(() => (attempts.status(id) as { server?: string }).server === "sdk/1.2.3");
  expect((attempts.status(id) as { startedAt: number }).startedAt).toBeGreaterThanOrEqual(before);
  expect(attempts.status("inv_1nobody")).toBeUndefined();
  const [shown] = attempts.running();
  open[0]?.end();
  await until(() => bench.ended.length === 1);
  const { startedAt, server } = shown ?? {};
  expect(bench.ended[0]?.site).toEqual({ startedAt, deployment: "dp_1", server });
});

test("closing resets all streams and sends no event", async () => {
  const { attempts } = started({ concurrencyMax: 2 });
  for (const effect of [attempt(), attempt(), attempt()]) attempts.start(effect);
  await until(() => open.length === 2);
  attempts.close();
  attempts.start(attempt());
  await until(() => reset.length === 2);
  expect(bench.events).toEqual([]);
  expect(attempts.load).toEqual({ running: 0, waiting: 0 });
});

test("an invocation without a deployment fails without having reached one", () => {
  const { attempts } = started({ concurrencyMax: 1 });
  attempts.start(attempt({ service: "Nope" }));
  attempts.start(attempt({ pin: { deployment: "dp_gone", protocol: 6 } }));
  expect(bench.ended.map(({ outcome }) => outcome)).toEqual(
    Array(2).fill({
      kind: "failed",
      reached: false,
      failure: {
        code: "RT0011",
        status: 500,
        message: "no deployment was found to process the invocation",
      },
    }),
  );
  expect(bench.ended.map(({ site }) => site)).toEqual(
    Array(2).fill({ startedAt: expect.any(Number) }),
  );
});

test("protocol versions: none in common, a pinned one, the highest below the preferred", async () => {
  const at = (id: string, minProtocol: number, maxProtocol: number) =>
    deploymentAt(endpoint.uri, { id, minProtocol, maxProtocol });
  const codes: unknown[] = [];
  for (const deployment of [at("old", 3, 4), at("new", 8, 9)]) {
    bench = new Bench([deployment]);
    bench.attempts.start(attempt());
    codes.push(bench.ended[0]?.outcome);
    await bench.close();
  }
  expect(codes).toMatchObject(
    Array(2).fill({ reached: false, failure: { code: "RT0013" } }) as object[],
  );
  bench = new Bench([at("a", 5, 5), at("b", 7, 7), at("c", 5, 7)]);
  const on = (deployment: string, protocol: number) => attempt({ pin: { deployment, protocol } });
  bench.attempts.start(on("a", 4));
  bench.attempts.start(on("a", 8));
  // Updated in place since: the server still speaks the version, the deployment does not.
  bench.attempts.start(on("a", 6));
  bench.attempts.start(on("b", 6));
  expect(bench.ended).toHaveLength(4);
  for (const { outcome } of bench.ended) {
    expect(outcome).toMatchObject({ reached: false, failure: { code: "RT0014", status: 500 } });
  }
  expect((bench.ended[2]?.outcome as Failed).failure.message).toBe(
    "cannot resume the invocation: it was started with service protocol version '6', " +
      "and deployment 'a' speaks versions [5, 5]",
  );
  const pinned = on("c", 5);
  bench.attempts.start(pinned);
  expect(bench.attempts.status(pinned.invocation.id)).toMatchObject({ protocol: 5 });
  await until(() => open.length === 1);
});
