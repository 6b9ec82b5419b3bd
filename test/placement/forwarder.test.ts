import { describe, expect, test } from "vitest";
import { Failure, Untaken } from "../../src/errors.ts";
import { Forwarder } from "../../src/placement/forwarder.ts";
import type {
  Accepted,
  Completed,
  InvocationRequest,
  OnLeave,
  PartitionClient,
} from "../../src/ports.ts";

const TIMEOUT_MS = 100;
const request: InvocationRequest = {
  id: "inv_1",
  fresh: true,
  target: { service: "S", handler: "h", type: "service", access: "none" },
  headers: [],
  value: new Uint8Array(0),
  origin: { by: "ingress" },
  retention: { resultMs: 0, journalMs: 0 },
};
const keyed: InvocationRequest = { ...request, fresh: false, idempotencyKey: "k" };
const accepted: Accepted = { id: "inv_1", status: "accepted" };
const completed: Completed = { result: { kind: "value", value: new Uint8Array(0) } };
const doubt = Failure.plain(503, "repeating is safe only with an idempotency key");

/** What the partition answers, time after time; the last one again and again. */
function forwarderTo(methods: Partial<Record<keyof PartitionClient, unknown[]>>, answerMs = 0) {
  let now = 0;
  const asked: string[] = [];
  const client = new Proxy({}, {
    get: (_, name: keyof PartitionClient) => async () => {
      asked.push(name);
      now += answerMs;
      const answers = methods[name] ?? [];
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  }) as PartitionClient;
  const forwarder = new Forwarder({
    resolve: () => client,
    misrouted: () => {},
    change: async () => void (now += 10),
    stopwatch: { now: () => now, after: () => () => {} },
    timeoutMs: TIMEOUT_MS,
  });
  return { forwarder, asked, now: () => now };
}

describe("what was certainly not taken", () => {
  test("is retried until a process takes it", async () => {
    const untaken = new Untaken("no");
    const { forwarder, asked } = forwarderTo({ send: [untaken, untaken, accepted] });
    expect(await forwarder.send(request)).toEqual(accepted);
    expect(asked).toEqual(["send", "send", "send"]);
  });

  test("is given up in time", async () => {
    const { forwarder, asked } = forwarderTo({ editState: [new Untaken("nobody has it")] });
    const edit = forwarder.editState({ service: "S", key: "k" }, { pairs: [] });
    await expect(edit).rejects.toMatchObject({ status: 503, message: "nobody has it" });
    expect(asked.length).toBe(1 + TIMEOUT_MS / 10);
  });
});

describe("the timeout", () => {
  test("holds for a call, which is not searched for by its id when no process took it", async () => {
    const untaken = new Untaken("nobody has it");
    const { forwarder, asked, now } = forwarderTo({ call: [untaken], attach: [untaken] });
    await expect(forwarder.call(request)).rejects.toBe(untaken);
    expect([now(), new Set(asked)]).toEqual([TIMEOUT_MS, new Set(["call"])]);
  });

  test("holds where each attempt takes its time, too", async () => {
    const { forwarder, now } = forwarderTo({ send: [new Untaken("no connection in time")] }, 30);
    await expect(forwarder.send(request)).rejects.toBeInstanceOf(Untaken);
    expect(now()).toBeLessThanOrEqual(TIMEOUT_MS);
  });

  test("begins when the connection is lost, however long the answer was waited for", async () => {
    const { target } = request;
    const answers = { attach: [doubt, { target, ...completed }] };
    const { forwarder } = forwarderTo(answers, 10 * TIMEOUT_MS);
    expect(await forwarder.attach("inv_1")).toEqual({ target, ...completed });
  });
});

describe("what may have been taken", () => {
  test("is asked again only if it may be", async () => {
    const object = { service: "S", key: "k" };
    const asks: Readonly<Record<string, (forwarder: Forwarder) => Promise<unknown>>> = {
      send: (forwarder) => forwarder.send(request),
      operate: (forwarder) => forwarder.operate("inv_1", { kind: "kill" }),
      editState: (forwarder) => forwarder.editState(object, { pairs: [] }),
      completePromise: (forwarder) =>
        forwarder.completePromise({ object, name: "p", run: "inv_1" }, {
          kind: "value",
          value: new Uint8Array(0),
        }),
    };
    for (const [ask, made] of Object.entries(asks)) {
      const { forwarder, asked } = forwarderTo({ [ask]: [doubt, accepted] });
      await expect(made(forwarder)).rejects.toBe(doubt);
      expect(asked).toEqual([ask]);
    }
  });

  test("is, when a key, a number or its nature makes it safe", async () => {
    const answers = {
      send: [doubt, accepted],
      call: [doubt, completed],
      output: [doubt, "unknown"],
    };
    const { forwarder } = forwarderTo({
      ...answers,
      attach: [doubt, undefined],
      signal: [doubt, undefined],
      deliver: [doubt, 3],
      ingest: [doubt, { next: 7 }],
      letters: [doubt, []],
    });
    expect(await forwarder.send(keyed)).toEqual(accepted);
    expect(await forwarder.call(keyed)).toEqual(completed);
    expect(await forwarder.output("inv_1")).toBe("unknown");
    expect(await forwarder.attach("inv_1")).toBeUndefined();
    const result = { kind: "void" } as const;
    await forwarder.signal({ target: "inv_1", id: { kind: "signal", index: 17 }, result });
    expect(await forwarder.deliver({ from: 0, first: 1, messages: [] })).toBe(3);
    const source = { subscription: "sub_1", group: "g", topic: "t", partition: 0 };
    expect(await forwarder.ingest({ source, settled: 5, next: 7, records: [] }))
      .toEqual({ next: 7 });
    expect(await forwarder.letters({ written: [], returned: [], bytesMax: 1 })).toEqual([]);
  });

  test("a call is found again by its id, where the partition is then", async () => {
    const { target } = request;
    const found = forwarderTo({
      call: [doubt],
      attach: [new Untaken(""), { target, ...completed }],
    });
    expect(await found.forwarder.call(request)).toEqual(completed);
    expect(found.asked).toEqual(["call", "attach", "attach"]);
    const unknown = forwarderTo({ call: [doubt], attach: [undefined] });
    await expect(unknown.forwarder.call(request)).rejects.toBe(doubt);
    // An id that is made of a workflow's key may be that of another call.
    const run = forwarderTo({ call: [doubt], attach: [{ target, ...completed }] });
    await expect(run.forwarder.call({ ...request, fresh: false })).rejects.toBe(doubt);
    expect(run.asked).toEqual(["call"]);
  });

  test("other failures are answers", async () => {
    const { forwarder, asked } = forwarderTo({ output: [Failure.plain(500, "broken")] });
    await expect(forwarder.output("inv_1")).rejects.toMatchObject({ status: 500 });
    expect(asked.length).toBe(1);
  });
});

test("no request is sent after the caller has left, whichever attempt is in flight", async () => {
  let leave = (): void => {}, asks = 0, left = 0;
  const client = {
    attach: (_: string, onLeave?: OnLeave) =>
      new Promise((_, reject) => {
        asks++;
        onLeave?.(() => {
          left++;
          reject(Failure.plain(499, "the caller went away"));
        });
        if (asks === 1) reject(doubt);
        else leave();
      }),
  } as Partial<PartitionClient> as PartitionClient;
  const forwarder = new Forwarder({
    resolve: () => client,
    misrouted: () => {},
    change: () => Promise.resolve(),
    stopwatch: { now: () => 0, after: () => () => {} },
    timeoutMs: TIMEOUT_MS,
  });
  await expect(forwarder.attach("inv_1", (one) => leave = one)).rejects.toMatchObject({
    status: 499,
  });
  expect([asks, left]).toEqual([2, 1]);
});
