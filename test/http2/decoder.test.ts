import fc from "fast-check";
import { expect, test } from "vitest";
import { ConnectionError } from "../../src/http2/connection_error.ts";
import { HeaderDecoder } from "../../src/http2/hpack/decoder.ts";
import { errorCode } from "../../src/http2/protocol.ts";
import { hex, join, latin1 } from "./_bytes.ts";

/** Decodes blocks one after the other, on one connection. */
function decode(...blocks: readonly (string | Uint8Array)[]): (string[] | undefined)[] {
  const decoder = new HeaderDecoder();
  return blocks.map((block) => {
    const bytes = typeof block === "string" ? hex(block) : block;
    return decoder.decode(bytes, 0, bytes.length)?.map(({ name, value }) => `${name}: ${value}`);
  });
}

const REQUESTS = [
  [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
  [
    ...[":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
    "cache-control: no-cache",
  ],
  [
    ...[":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com"],
    "custom-key: custom-value",
  ],
];

const DATES = ["Mon, 21 Oct 2013 20:13:21 GMT", "Mon, 21 Oct 2013 20:13:22 GMT"];
const RESPONSES = [
  ["302", [`date: ${DATES[0]}`, "location: https://www.example.com"]],
  ["307", [`date: ${DATES[0]}`, "location: https://www.example.com"]],
  ["200", [
    `date: ${DATES[1]}`,
    "location: https://www.example.com",
    "content-encoding: gzip",
    "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  ]],
].map(([status, more]) => [`:status: ${status}`, "cache-control: private", ...more!]);

/** The examples have a table of 256 bytes. */
const SMALL_TABLE = "3f e1 01 ";

test("RFC 7541, appendix C.2: each kind of header", () => {
  expect(decode("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
    .toEqual([["custom-key: custom-header"]]);
  expect(decode("040c 2f73 616d 706c 652f 7061 7468")).toEqual([[":path: /sample/path"]]);
  expect(decode("1008 7061 7373 776f 7264 0673 6563 7265 74")).toEqual([["password: secret"]]);
  expect(decode("82")).toEqual([[":method: GET"]]);
});

test("RFC 7541, appendix C.3: requests without Huffman code", () => {
  expect(decode(
    "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
    "8286 84be 5808 6e6f 2d63 6163 6865",
    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
  )).toEqual(REQUESTS);
});

test("RFC 7541, appendix C.4: requests with Huffman code", () => {
  expect(decode(
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
  )).toEqual(REQUESTS);
});

test("RFC 7541, appendix C.5: responses without Huffman code, and eviction", () => {
  expect(decode(
    SMALL_TABLE +
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a
       3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
    "4803 3330 37c1 c0bf",
    `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04
     677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49
     553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31`,
  )).toEqual(RESPONSES);
});

test("RFC 7541, appendix C.6: responses with Huffman code, and eviction", () => {
  expect(decode(
    SMALL_TABLE +
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e
       919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
    "4883 640e ffc1 c0bf",
    `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7
     821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed
     4ee5 b106 3d50 07`,
  )).toEqual(RESPONSES);
});

test("each character of a value is one byte", () => {
  const all = Uint8Array.from({ length: 100 }, (_, i) => 156 + i);
  expect(decode(join([0x00, 1, 0x61, 100], all))).toEqual([[`a: ${String.fromCharCode(...all)}`]]);
});

test("an emptied table has no headers of before, and a grown one has room again", () => {
  const added = "40 01 61 01 62", first = "be";
  expect(decode(added, first)[1]).toEqual(["a: b"]);
  expect(() => decode(added, `20 ${first}`)).toThrow("index 62");
  expect(decode(added, "20 3f e1 1f", added, first)[3]).toEqual(["a: b"]);
});

test("a header that is larger than the table empties it", () => {
  const large = join([0x40, 1, 0x61, 0x7f, 0x81, 0x1f], latin1("x".repeat(4096)));
  expect(decode(large)[0]![0]).toHaveLength(4099);
  expect(() => decode("40 01 61 01 62", large, "be")).toThrow("index 62");
});

test("headers beyond the limit are not kept, and the table is right afterwards", () => {
  const large = join([0x00, 1, 0x61, 0x7f, 0x81, 0xff, 0x03], latin1("x".repeat(65_536)));
  expect(decode(join(large, hex("40 01 61 01 62")), "be")).toEqual([undefined, ["a: b"]]);
  // The same header from the table, by one byte each.
  const bomb = new Uint8Array(20_000).fill(0xbe);
  expect(decode(join(hex("40 01 61 7f 81 01"), latin1("x".repeat(256))), bomb)[1]).toBeUndefined();
});

test.each([
  ["index 0", "80"],
  ["an index beyond the tables", "be"],
  ["a name beyond the tables", "7f 00 01 61"],
  ["an integer without end", "ff ff ff ff ff ff ff"],
  ["an integer that is cut", "ff 80"],
  ["a string that is cut", "40 05 61"],
  ["a header that is cut behind its name", "40 01 61"],
  ["a header that is cut before its name", "40"],
  ["bad Huffman code", "40 81 00 00"],
  ["a table that is larger than ours", "3f e2 1f"],
  ["a change of the table within a block", "82 20"],
])("%s is a COMPRESSION_ERROR", (_, block) => {
  const error = (() => {
    try {
      decode(block);
    } catch (cause) {
      return cause;
    }
  })();
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ code: errorCode.compressionError });
});

test("any bytes are headers, or a ConnectionError", () => {
  const decoder = new HeaderDecoder();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        decoder.decode(bytes, 0, bytes.length);
      } catch (cause) {
        expect(cause).toBeInstanceOf(ConnectionError);
      }
    }),
    { numRuns: 2000 },
  );
});
