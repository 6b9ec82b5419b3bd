import { describe, expect, test } from "vitest";
import { type KafkaRecord, type Mapped, mapperOf } from "../../src/kafka/mapping.ts";
import type { PlannedSubscription } from "../../src/model/kafka.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

interface Given {
  readonly key?: Uint8Array | string;
  readonly value?: Uint8Array | string | null;
  readonly headers?: readonly (readonly [string, Uint8Array | string])[];
}

function record({ key, value = "", headers = [] }: Given): KafkaRecord {
  const bytes = (given: Uint8Array | string) => typeof given === "string" ? utf8(given) : given;
  return {
    offset: 7,
    timestamp: 1000,
    key: key === undefined ? undefined : bytes(key),
    value: value === null ? undefined : bytes(value),
    headers: headers.map(([name, text]) => [name, bytes(text)] as const),
  };
}

interface Where {
  readonly options?: Readonly<Record<string, string>>;
  readonly sinkType?: PlannedSubscription["sinkType"];
  readonly isScopeRead?: boolean;
}

function map(given: Given, where: Where = {}): Mapped {
  const { options = {}, sinkType = "virtualObject", isScopeRead = false } = where;
  const subscription = { id: "s", source: "", sink: "", createdAt: 0, options, sinkType };
  return mapperOf(subscription, { isScopeRead })(record(given));
}

function mapped(given: Given, where?: Where) {
  const result = map(given, where);
  if (result.kind !== "record") throw new Error(JSON.stringify(result));
  return result.record;
}

describe("a record without options", () => {
  test("keeps its bytes, and its headers do not reach the handler", () => {
    const key = Uint8Array.of(0xff, 0);
    const given = {
      key,
      value: "v",
      headers: [["content-type", "x"], ["kafka.offset", "9"]],
    } as const;
    expect(mapped(given)).toEqual({
      offset: 7,
      timestamp: 1000,
      key,
      value: utf8("v"),
      objectKey: undefined,
      headers: [],
      scope: undefined,
      limitKey: undefined,
      traceparent: undefined,
    });
  });

  test("a tombstone says so in a header, an empty value does not", () => {
    expect(mapped({ value: null })).toMatchObject({
      value: undefined,
      headers: [["svc.tombstone", "true"]],
    });
    expect(mapped({ value: "" })).toMatchObject({ value: utf8(""), headers: [] });
  });

  test("its traceparent is taken, and ignored where it is none", () => {
    const of = (text: string) => mapped({ headers: [["traceparent", text]] }).traceparent;
    expect(of(TRACEPARENT)).toBe(TRACEPARENT);
    expect(of("00-00000000000000000000000000000000-00f067aa0ba902b7-01")).toBeUndefined();
    expect(of("nonsense")).toBeUndefined();
  });
});

describe("key.encoding", () => {
  const key = Uint8Array.of(0xfb, 0xff, 0x01, 0x02);
  const encoded = (encoding: string, given: Given) =>
    map(given, { options: { "key.encoding": encoding } });
  const keyBy = (encoding: string, given: Given) => {
    const result = encoded(encoding, given);
    return result.kind === "record" ? result.record.objectKey : result;
  };

  test("base64 and hex make a text of any bytes", () => {
    expect(keyBy("base64", { key })).toBe("-_8BAg==");
    expect(keyBy("hex", { key })).toBe("fbff0102");
    expect([keyBy("base64", {}), keyBy("hex", {})]).toEqual(["", ""]);
  });

  test("utf8 leaves the key to the server", () => {
    expect(keyBy("utf8", { key })).toBeUndefined();
  });

  test("header takes the last one of that name", () => {
    expect(keyBy("header:id", { headers: [["id", "a"], ["id", "b"], ["ID", "c"]] })).toBe("b");
    expect(keyBy("header:id", {})).toMatchObject({ kind: "poison" });
    expect(keyBy("header:id", { headers: [["id", Uint8Array.of(0xff)]] })).toMatchObject({
      kind: "poison",
      message: expect.stringContaining("UTF-8"),
    });
  });

  test("json takes a text, a number or a boolean of the value", () => {
    const value = JSON.stringify({ "a/b": [{ "~id": "x" }, 5, null] });
    expect(keyBy("json:/a~1b/0/~0id", { value })).toBe("x");
    expect(keyBy("json:/a~1b/1", { value })).toBe("5");
    expect(keyBy("json:", { value: "true" })).toBe("true");
    for (const pointer of ["/a~1b/2", "/a~1b", "/none", "/a~1b/length"]) {
      expect(keyBy(`json:${pointer}`, { value })).toMatchObject({ kind: "poison" });
    }
    expect(keyBy("json:/a", { value: "{" })).toMatchObject({
      kind: "poison",
      message: expect.stringContaining("no JSON"),
    });
    expect(keyBy("json:/a", { value: null })).toMatchObject({ kind: "poison" });
  });

  test("a service has no keys, so that none can be missing", () => {
    const where = { options: { "key.encoding": "header:id" }, sinkType: "service" } as const;
    expect(mapped({}, where).objectKey).toBeUndefined();
  });
});

describe("headers.prefix", () => {
  const passed = (headers: Given["headers"]) =>
    mapped({ headers: headers! }, { options: { "headers.prefix": "Record-" } }).headers;

  test("passes headers on in lower case and in their order, repeated ones too", () => {
    expect(passed([["B", "1"], ["a", "ü"], ["b", "2"]])).toEqual([
      ["record-b", "1"],
      ["record-a", "ü"],
      ["record-b", "2"],
    ]);
  });

  test("bytes that are no text come as base64, names that are none do not come", () => {
    expect(passed([["x", Uint8Array.of(0xff, 0xfe)], ["y", "a\nb"], ["", "e"], ["a b", "f"]]))
      .toEqual([["record-x-bin", "//4="], ["record-y-bin", "YQpi"]]);
  });
});

describe("filter", () => {
  const passes = (filter: string, given: Given) => map(given, { options: { filter } }).kind;

  test("header compares the text of any header of that name", () => {
    const headers = [["kind", "a"], ["kind", "b=c"]] as const;
    expect(passes("header:kind=b=c", { headers })).toBe("record");
    expect(passes("header:kind=b", { headers })).toBe("skip");
    expect(passes("header:none=", { headers })).toBe("skip");
  });

  test("json compares a part of the value", () => {
    const value = JSON.stringify({ kind: "order", count: 2, list: [1] });
    expect(passes("json:/kind=order", { value })).toBe("record");
    expect(passes("json:/count=2", { value })).toBe("record");
    expect(passes("json:/list=[1]", { value })).toBe("record");
    expect(passes("json:/kind=other", { value })).toBe("skip");
    expect(passes("json:/kind/more=order", { value })).toBe("skip");
    expect(passes("json:/kind=order", { value: "no JSON" })).toBe("skip");
    expect(passes("json:/kind=order", { value: null })).toBe("skip");
  });

  test("a value that is nested too deeply to be written passes for no text", () => {
    const value = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(passes("json:/a=1", { value })).toBe("skip");
  });

  test("a record that does not pass cannot be poison", () => {
    const options = { "filter": "header:kind=order", "key.encoding": "header:id" };
    expect(map({}, { options }).kind).toBe("skip");
  });
});

describe("scopes of record headers", () => {
  const scoped = (headers: Given["headers"], isScopeRead = true) =>
    map({ headers: headers! }, { isScopeRead });

  test("are read in both spellings where it is switched on", () => {
    expect(scoped([["x-svc-scope", "t1"], ["x-restate-limit-key", "a/b/"]])).toMatchObject({
      record: { scope: "t1", limitKey: "a/b" },
    });
    expect(scoped([["x-svc-scope", "t1"]], false)).toMatchObject({ record: { scope: undefined } });
  });

  test("a bad limit key beside a good scope is ignored", () => {
    expect(scoped([["x-svc-scope", "t1"], ["x-svc-limit-key", "a/b/c"]])).toMatchObject({
      record: { scope: "t1", limitKey: undefined },
    });
  });

  test("a limit key without a scope and a bad scope are poison", () => {
    expect(scoped([["x-svc-limit-key", "a"]])).toEqual({
      kind: "poison",
      message: "limit-key requires a scope to be set",
    });
    expect(scoped([["x-svc-scope", "s".repeat(60)]])).toEqual({
      kind: "poison",
      message: "invalid scope value in x-svc-scope header: value too long: 60 bytes (max 36)",
    });
  });
});
