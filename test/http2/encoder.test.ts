import fc from "fast-check";
import { expect, test } from "vitest";
import { HeaderDecoder } from "../../src/http2/hpack/decoder.ts";
import { HeaderEncoder } from "../../src/http2/hpack/encoder.ts";

type Headers = Readonly<Record<string, string>>;

/** Encodes requests one after the other, and decodes each. */
function through(...requests: readonly Headers[]): string[][] {
  const encoder = new HeaderEncoder("host:1"), decoder = new HeaderDecoder();
  return requests.map((headers) => {
    const length = encoder.encode("POST", "/a?b", headers);
    const fields = decoder.decode(encoder.bytes, 0, length)!;
    return fields.map(({ name, value }) => `${name}: ${value}`);
  });
}

const START = [":method: POST", ":scheme: http", ":authority: host:1", ":path: /a?b"];

test("a request is its pseudo-headers and its headers, whatever was sent before", () => {
  const one = { "x-a": "1", accept: "text/plain" }, two = { "x-a": "2", accept: "text/plain" };
  const lines = (headers: Headers) =>
    Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const requests = [{}, one, one, one, two, one, two, two, {}];
  expect(through(...requests)).toEqual(requests.map((headers) => [...START, ...lines(headers)]));
});

test("any headers that HTTP allows arrive as they are", () => {
  const name = fc.stringMatching(/^x-[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/);
  const value = fc.string({
    unit: fc.constantFrom("a", "\t", " ", "~", "\x80", "\xff"),
    size: "+1",
  })
    .map((text) => `<${text}>`);
  const requests = fc.array(fc.dictionary(name, value, { maxKeys: 5 }), { maxLength: 5 });
  fc.assert(fc.property(requests, (list) => {
    const expected = list.map((headers) =>
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    );
    expect(through(...list)).toEqual(expected.map((lines) => [...START, ...lines]));
  }));
});

test("names are sent in lower case, and values without spaces around them", () => {
  expect(through({ "X-A": " \tb c\t " })).toEqual([[...START, "x-a: b c"]]);
});

test("a host takes the place of the authority", () => {
  expect(through({ host: "other", "x-a": "1" }, {})).toEqual([
    [":method: POST", ":scheme: http", ":authority: other", ":path: /a?b", "x-a: 1"],
    START,
  ]);
});

test("secrets are marked as never to be indexed", () => {
  const encoder = new HeaderEncoder("h");
  const start = encoder.encode("GET", "/", {});
  const kinds = ["authorization", "cookie", "accept"].map((name) => {
    encoder.encode("GET", "/", { [name]: "x" });
    return encoder.bytes[start]! & 0xf0;
  });
  expect(kinds).toEqual([0x10, 0x10, 0x00]);
});

test.each([
  ["a name with a space", { "a b": "x" }],
  ["an empty name", { "": "x" }],
  ["a pseudo-header", { ":path": "/" }],
  ["a header of the connection", { Connection: "close" }],
  ["an end of line", { a: "b\nc" }],
  ["an end of line at the end", { a: "b\r\n" }],
  ["NUL", { a: "\0" }],
  ["DEL", { a: "\x7f" }],
  ["a character of two bytes", { a: "\u0100" }],
  ["more bytes than allowed", { a: "x".repeat(1024 * 1024) }],
])("%s is refused, and the next request is not affected", (_, headers) => {
  const encoder = new HeaderEncoder("h");
  const before = encoder.bytes.slice(0, encoder.encode("GET", "/", { "x-a": "1" }));
  expect(() => encoder.encode("GET", "/", headers as unknown as Headers)).toThrow(RangeError);
  expect(encoder.bytes.slice(0, encoder.encode("GET", "/", { "x-a": "1" }))).toEqual(before);
});
