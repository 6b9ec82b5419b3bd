import { Buffer } from "node:buffer";
import { SIDECAR_TOKEN } from "../support/server.ts";

/** Chance that repeats itself: one seed, one sequence (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 up to, and without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  of<T>(some: readonly T[]): T {
    return some[this.below(some.length)]!;
  }
}

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];
const WORDS = [
  ..."svc restate call send attach output lookup health workflow invocation awakeables".split(" "),
  ..."resolve reject deployments services invocations query metrics openapi cancel kill".split(" "),
  ..."purge state version modify subscriptions cluster-health Greeter greet Counter c add".split(
    " ",
  ),
  ..."kafka-clusters skip internal kafka plan records reports".split(" "),
];
export const EVIL = [
  ...[
    "..",
    ".",
    "",
    "*",
    "%",
    "%2",
    "%zz",
    "%00",
    "%ff%fe",
    "%0d%0ax:%20y",
    "..%2f..%2fetc%2fpasswd",
  ],
  ...[
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "-1",
    "NaN",
    "1e309",
    "%F0%9F%98%80",
    "'--",
    "{}",
  ],
  ...["inv_1", `inv_1${"z".repeat(36)}`, "sign_1", "prom_1abc", "dp_", "k".repeat(5_000)],
];
const NAMES = [
  ..."uri force dry_run query invocation_ids additional_headers metadata __proto__ target".split(
    " ",
  ),
  ..."service handler key new_state version breaking public arn constructor".split(" "),
  ..."name properties source sink options paused topic partition offset member".split(" "),
];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  "content-type": ["application/json", "text/plain", "x", "application/JSON; charset=utf-16"],
  "idempotency-key": ["", "a", "x".repeat(8_000)],
  "accept": ["*/*", "application/json", "", "text/event-stream"],
  "accept-encoding": ["gzip;q=0, br", "zstd", "identity;q=x"],
  "traceparent": ["00-0-0-0", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  "origin": ["null", "https://evil.example"],
  "range": ["bytes=0-"],
  "authorization": [`Bearer ${SIDECAR_TOKEN}`, "Bearer ", "x"],
  "x-restate-limit-key": ["a/b/c/d", "\t"],
};

/** A request that is right in parts: what it says is neither random nor meant. */
export function fuzzRequest(chance: Chance): FuzzRequest {
  const method = chance.of(METHODS);
  const segments = Array.from(
    { length: chance.below(6) },
    () => chance.next() < 0.7 ? chance.of(WORDS) : chance.of(EVIL),
  );
  const query = chance.next() < 0.2
    ? `?${chance.of(["delay", "x", "from"])}=${chance.of(EVIL)}`
    : "";
  const headers = fuzzHeaders(chance);
  const body = method === "GET" || method === "HEAD" ? undefined : fuzzBody(chance);
  return { method, path: `/${segments.join("/")}${query}`, headers, body };
}

/** Some headers, each of which is right or wrong. */
export function fuzzHeaders(chance: Chance): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(HEADERS)) {
    if (chance.next() < 0.3) headers[name] = chance.of(values);
  }
  return headers;
}

function fuzzBody(chance: Chance): Uint8Array<ArrayBuffer> {
  const bodies: readonly (() => string | Uint8Array)[] = [
    () => "",
    () => "[".repeat(chance.below(50_000)),
    () => `{"a":`.repeat(chance.below(5_000)),
    () => `{"__proto__":{"polluted":1},"uri":"http://127.0.0.1:1"}`,
    () => `{"uri":"http://127.0.0.1:1","uri":"file:///etc/passwd"}`,
    () => Uint8Array.from({ length: chance.below(200) }, () => chance.below(256)),
    () => JSON.stringify(fuzzValue(chance, 0)),
    () => JSON.stringify({ query: `select ${chance.of(EVIL)} from ${chance.of(WORDS)}` }),
  ];
  const body = chance.of(bodies)();
  return new Uint8Array(typeof body === "string" ? Buffer.from(body) : body);
}

/** A JSON value of anything. */
export function fuzzValue(chance: Chance, depth: number): unknown {
  const some = <T>(make: () => T) => Array.from({ length: depth > 3 ? 0 : chance.below(5) }, make);
  switch (chance.below(8)) {
    case 0:
      return null;
    case 1:
      return chance.below(2 ** 31) - 2 ** 30;
    case 2:
      return 1e308;
    case 3:
      return "\ud800";
    case 4:
      return some(() => fuzzValue(chance, depth + 1));
    case 5:
      return true;
    case 6:
      return chance.of(EVIL);
    default:
      return Object.fromEntries(some(() => [chance.of(NAMES), fuzzValue(chance, depth + 1)]));
  }
}

/** Bytes of a request of which some are others, doubled or missing. */
export function damaged(chance: Chance, text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === "string" ? Buffer.from(text, "latin1") : Buffer.from(text);
  for (let i = 1 + chance.below(5); i > 0; i--) {
    bytes[chance.below(bytes.length)] = chance.below(256);
  }
  if (chance.next() < 0.2) return Buffer.concat([bytes, bytes]);
  return chance.next() < 0.2 ? bytes.subarray(0, chance.below(bytes.length)) : bytes;
}

/**
 * Whether an answer is the one to a body that ends before its declared length (docs/spec/ingress.md#errors).
 * Node refuses such a request itself, Deno hands it on.
 */
export function isCutShort(text: string): boolean {
  return text.includes("cannot read body: the request was cut short");
}
