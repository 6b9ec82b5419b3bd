import http from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { shows } from "../support/tokens.ts";
import { type Start, type Started, STARTS } from "./_runtimes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** From where a request comes: the address of its connection, and what it says of itself. */
interface From {
  readonly localAddress?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Runtime {
  readonly start: Start;
  /** Two clients that are told apart, … */
  readonly clients: readonly [From, From];
  /** … and what the first one says to look like another, in vain. */
  readonly disguise: (number: number) => Readonly<Record<string, string>>;
}

const process = (runtime: "node" | "deno"): Runtime => ({
  start: STARTS[runtime],
  clients: [{ localAddress: "127.0.0.2" }, { localAddress: "127.0.0.3" }],
  disguise: (number) => ({
    "cf-connecting-ip": `198.51.100.${number}`,
    "x-forwarded-for": `198.51.100.${number}`,
    forwarded: `for=198.51.100.${number}`,
  }),
});

const from = (address: string): From => ({ headers: { "cf-connecting-ip": address } });

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  node: process("node"),
  deno: process("deno"),
  // An isolate knows no connection, only what the platform in front of it says.
  workerd: {
    start: STARTS.workerd,
    clients: [from("198.51.100.7"), from("198.51.100.8")],
    disguise: (number) => ({ "x-forwarded-for": `198.51.100.${number}` }),
  },
};

function statusOf(url: string, token: string, { localAddress, headers }: From): Promise<number> {
  const options = { localAddress, headers: { ...headers, ...shows(token) }, agent: false };
  return new Promise((resolve, reject) => {
    http.get(url, options, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!));
    }).on("error", reject);
  });
}

const ASKED_MAX = 100;

/** Sends wrong tokens until one is not looked up. Answers the statuses before. */
async function flood(ask: (number: number) => Promise<number>): Promise<readonly number[]> {
  const before: number[] = [];
  while (before.length < ASKED_MAX) {
    const status = await ask(before.length);
    if (status === 429) return before;
    before.push(status);
  }
  throw new Error(`${ASKED_MAX} wrong tokens in a row were looked up`);
}

describe.each(Object.entries(RUNTIMES))("wrong tokens on %s", (_, runtime) => {
  const { clients: [one, other], disguise } = runtime;
  let server: Started;
  const paths = () => [`${server.admin}/deployments`, `${server.ingress}/svc/lookup`];

  beforeAll(async () => {
    const lines = ["first", "second"].map(async (name) => `${name} ${await digestOf(name)} admin`);
    server = await runtime.start({
      AUTH__TOKENS: (await Promise.all(lines)).join("\n"),
      AUTH__WRONG_TOKENS_LIMIT_PER_ADDRESS: "1",
      AUTH__WRONG_TOKENS_LIMIT: "1000",
    });
  });
  afterAll(async () => await server?.close());

  test("close the address that they come from, for both interfaces, and no other", async () => {
    const [deployments = "", calls = ""] = paths();
    expect(await statusOf(deployments, "first", one)).toBe(200);
    const before = await flood((number) => {
      const said = { ...one, headers: { ...one.headers, ...disguise(number) } };
      return statusOf(number % 2 === 0 ? deployments : calls, `wrong-${number}`, said);
    });
    expect(before.length).toBeGreaterThanOrEqual(10);
    expect(new Set(before)).toEqual(new Set([401]));
    // A token that is in use is not looked up.
    expect(await statusOf(deployments, "first", one)).toBe(200);
    expect(await statusOf(calls, "wrong", other)).toBe(401);
    expect(await statusOf(deployments, "second", other)).toBe(200);
    const address = one.localAddress ?? one.headers?.["cf-connecting-ip"];
    expect(server.logs()).toMatch(
      new RegExp(`unknown token was refused.*${address!.replaceAll(".", "\\.")}`),
    );
  });
});

test("a proxy tells its clients apart by the header that a setting names", async () => {
  const server = await STARTS.node({
    ADMIN__TOKEN: "right",
    AUTH__WRONG_TOKENS_LIMIT_PER_ADDRESS: "1",
    AUTH__WRONG_TOKENS_LIMIT: "1000",
    AUTH__CLIENT_ADDRESS_HEADER: "x-forwarded-for",
  });
  try {
    const url = `${server.admin}/deployments`;
    const via = (address: string): From => ({ headers: { "x-forwarded-for": address } });
    await flood((number) => statusOf(url, "wrong", via(`192.0.2.${number}, 198.51.100.7`)));
    expect(await statusOf(url, "wrong", via("198.51.100.8"))).toBe(401);
    expect(await statusOf(url, "right", via("198.51.100.8"))).toBe(200);
  } finally {
    await server.close();
  }
});
