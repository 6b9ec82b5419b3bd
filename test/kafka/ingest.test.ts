import { expect, test } from "vitest";
import type { IngestRecord } from "../../src/model/kafka.ts";
import type { InvocationRequest } from "../../src/ports.ts";
import { ingest, record, SUBSCRIPTION, utf8 } from "./_ingest.ts";

async function requestOf(sink: string, one: Partial<IngestRecord>, ...more: never[]) {
  const { requests: [request] } = await ingest(sink, [record(5, one)], ...more);
  return request as InvocationRequest;
}

test("a record is a one-way call with six headers, in the order of the reference", async () => {
  const request = await requestOf("greeter/hi", { key: new Uint8Array([0xfb, 0xff, 0]) });
  expect(request).toEqual({
    id: expect.stringMatching(/^inv_1/),
    fresh: true,
    target: { service: "greeter", handler: "hi", type: "service", access: "none" },
    headers: [
      ["kafka.offset", "5"],
      ["kafka.topic", "orders"],
      ["kafka.partition", "2"],
      ["kafka.timestamp", "1700000000123"],
      ["svc.subscription.id", SUBSCRIPTION],
      ["kafka.key", "-_8A"],
    ],
    value: utf8("5"),
    origin: { by: "subscription", id: SUBSCRIPTION },
    retention: { resultMs: 86_400_000, journalMs: 86_400_000 },
  });
});

test("the key is padded, empty if it is empty, and absent if there is none", async () => {
  const keyOf = async (key: Uint8Array | undefined) =>
    (await requestOf("greeter/hi", { key })).headers.find(([name]) => name === "kafka.key")?.[1];
  expect(await keyOf(utf8("a"))).toBe("YQ==");
  expect(await keyOf(utf8("ab"))).toBe("YWI=");
  expect(await keyOf(utf8(""))).toBe("");
  expect(await keyOf(undefined)).toBeUndefined();
});

test("what the sidecar passes on follows, replaces nothing, and is spelled for the handler", async () => {
  const headers: IngestRecord["headers"] = [
    ["svc.tombstone", "true"],
    ["x-kafka-a", "b"],
    ["kafka.offset", "99"],
    ["svc.subscription.id", "other"],
  ];
  const { requests: [request] } = await ingest("greeter/hi", [record(5, { headers })], {
    dialect: "restate",
  });
  expect(request!.headers.slice(4)).toEqual([
    ["restate.subscription.id", SUBSCRIPTION],
    ["restate.tombstone", "true"],
    ["x-kafka-a", "b"],
  ]);
});

test("a tombstone is an empty value", async () => {
  expect((await requestOf("greeter/hi", { value: undefined })).value).toEqual(new Uint8Array(0));
});

test.each([
  ["counter/add", "exclusive"],
  ["counter/peek", "shared"],
  ["flow/ask", "shared"],
  ["flow/run", "run"],
])("%s is called with the text of the key", async (sink, access) => {
  for (
    const [key, text] of [[utf8("a/b%20 é\0\ufeff"), "a/b%20 é\0\ufeff"], [undefined, ""]] as const
  ) {
    const { target, fresh } = await requestOf(sink, { key });
    expect(target).toMatchObject({ key: text, access });
    expect(fresh).toBe(access !== "run");
  }
  const given = await requestOf(sink, { key: new Uint8Array([0xff]), objectKey: "ff" });
  expect(given.target.key).toBe("ff");
});

test("the result of a workflow is kept as long as its journal", async () => {
  expect((await requestOf("flow/run", {})).retention).toEqual({
    resultMs: 86_400_000,
    journalMs: 86_400_000,
  });
});

test("a record has the same id each time, and another one than any other record", async () => {
  const all = [record(1), record(2)];
  const { requests } = await ingest("greeter/hi", all);
  const { requests: again } = await ingest("greeter/hi", all.slice(1), { more: { next: 9 } });
  expect(again[0]!.id).toBe(requests[1]!.id);
  const { requests: others } = await ingest("greeter/hi", all, { more: { topic: "other" } });
  expect(new Set([...requests, ...others].map(({ id }) => id)).size).toBe(4);
});

test("the runs of a workflow have the id that a call of it has", async () => {
  const one = await requestOf("flow/run", { key: utf8("w") });
  const { requests: [two] } = await ingest("flow/run", [record(77, { key: utf8("w") })]);
  expect(two!.id).toBe(one.id);
});

test.each([
  ["counter/add", { key: new Uint8Array([0xff]) }, "must be valid UTF-8"],
  ["greeter/hi", { value: new Uint8Array(101) }, "101 bytes: the limit is 100"],
  ["greeter/hi", { headers: [["a", "b".repeat(66_000)]] as const }, "bytes: the limit is 100"],
  ["counter/add", { key: new Uint8Array(65_537).fill(97) }, "key has more than 65536 characters"],
  ["counter/add", { objectKey: "k".repeat(65_537) }, "key has more than 65536 characters"],
])(
  "of %s, a record that cannot become an invocation ends the batch",
  async (sink, bad, message) => {
    const { result, taken } = await ingest(sink, [record(3), record(4, bad), record(5)]);
    expect(result).toEqual({ next: 4, poison: { message: expect.stringContaining(message) } });
    expect(taken.map(({ next, records }) => [next, records.length])).toEqual([[4, 1]]);
    const first = await ingest(sink, [record(4, bad), record(5)]);
    expect([first.result.next, first.taken]).toEqual([4, []]);
  },
);

test("headers of 64 KiB, and a key of as many characters, are none too many", async () => {
  const long = { headers: [["a", "b".repeat(65_000)]] as const, value: new Uint8Array(100) };
  expect((await ingest("greeter/hi", [record(1, long)])).result).toEqual({ next: 2 });
  const objectKey = "k".repeat(65_536);
  expect((await ingest("counter/add", [record(1, { objectKey })])).result).toEqual({ next: 2 });
});

test("a key that is not UTF-8 does not matter to a service", async () => {
  const { result } = await ingest("greeter/hi", [record(3, { key: new Uint8Array([0xff]) })]);
  expect(result).toEqual({ next: 4 });
});

test.each(["nope/hi", "greeter/nope", "greeter/toString", "greeter/"])(
  "without the sink %s every record is poison",
  async (sink) => {
    const { result, taken } = await ingest(sink, [record(3)]);
    expect([result, taken]).toEqual([
      { next: 3, poison: { message: "Service and handler are not registered" } },
      [],
    ]);
  },
);

test("records at the end that are skipped are passed", async () => {
  const { result, taken } = await ingest("greeter/hi", [record(3)], { more: { next: 10 } });
  expect([result, taken[0]?.next]).toEqual([{ next: 10 }, 10]);
  expect((await ingest("greeter/hi", [], { more: { next: 10 } })).result).toEqual({ next: 10 });
});

test("scopes and limit keys are read only where records may set them", async () => {
  const scoped = { scope: "tenant", limitKey: "a/b/" };
  const unread = await ingest("greeter/hi", [record(1, { limitKey: "a" }), record(2, scoped)]);
  expect(unread.requests.map(({ target, limitKey }) => [target.scope, limitKey])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
  const deps = { isScopeRead: true };
  const { requests: [read] } = await ingest("counter/add", [record(2, scoped)], { deps });
  expect([read!.target.scope, read!.limitKey]).toEqual(["tenant", "a/b"]);
  const odd = await ingest("greeter/hi", [record(1, { scope: "s", limitKey: "a/b/c" })], { deps });
  expect([odd.requests[0]!.target.scope, odd.requests[0]!.limitKey]).toEqual(["s", undefined]);
});

test.each([
  [{ limitKey: "a" }, "limit-key requires a scope to be set"],
  [{ scope: "s".repeat(37) }, "value too long: 37 bytes (max 36)"],
  [{ scope: "a b" }, "invalid scope value in x-svc-scope header"],
])("%j is poison", async (bad, message) => {
  const { result } = await ingest("greeter/hi", [record(1, bad)], { deps: { isScopeRead: true } });
  expect(result.poison?.message).toContain(message);
});

test("an object has a scope only where objects may have one", async () => {
  const { result } = await ingest("counter/add", [record(1, { scope: "s" })], {
    deps: { isScopeRead: true },
    flowControl: {},
  });
  expect(result.poison?.message).toContain("not supported for Virtual Object");
});

test("the trace of the record is continued, or one begins where spans are made", async () => {
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const trace = { id: "a".repeat(32), parent: "b".repeat(16), sampled: true };
  expect((await requestOf("greeter/hi", { traceparent })).trace).toEqual(trace);
  expect((await requestOf("greeter/hi", { traceparent: "odd" })).trace).toBeUndefined();
  const followed: string[] = [];
  const tracer = {
    request: (brought: unknown) => ({
      trace: brought ? { ...trace, parent: "c".repeat(16) } : { ...trace, id: "d".repeat(32) },
      follow: (_answer: Promise<unknown>, { id }: { readonly id: string }) =>
        void followed.push(id),
    }),
  };
  const { requests } = await ingest("greeter/hi", [record(1, { traceparent }), record(2)], {
    deps: { tracer },
  });
  expect(requests.map(({ trace }) => [trace?.id[0], trace?.parent[0]])).toEqual([
    ["a", "c"],
    ["d", "b"],
  ]);
  expect(followed).toEqual(requests.map(({ id }) => id));
});
