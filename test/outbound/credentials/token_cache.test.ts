import { expect, test } from "vitest";
import { type MintedToken, TokenCache } from "../../../src/outbound/credentials/token_cache.ts";

/** A cache on a clock that is set by hand. Tokens are valid for 1,000 s. */
function setup({ tokensMax = 10 } = {}) {
  const state = { now: 1_000_000, minted: 0, failing: false, logged: 0 };
  const waits: (() => void)[] = [];
  const cache = new TokenCache({
    now: () => state.now,
    log: () => state.logged++,
    tokensMax,
  });
  const mint = async (): Promise<MintedToken> => {
    const text = `token ${++state.minted}`;
    await new Promise<void>((resolve) => waits.push(resolve));
    if (state.failing) throw new Error("an outage");
    return { text, until: state.now + 1_000_000 };
  };
  /** Lets all minting go on, and what follows from it. */
  const settle = async () => {
    for (const wait of waits.splice(0)) wait();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const ask = (audience = "a") => cache.token(audience, mint);
  return { state, cache, ask, settle };
}

test("requests at the same time wait for one token, and later ones get it at once", async () => {
  const { state, ask, settle } = setup();
  const all = [ask(), ask(), ask()];
  await settle();
  expect(await Promise.all(all)).toEqual(["token 1", "token 1", "token 1"]);
  expect([ask(), state.minted]).toEqual(["token 1", 1]);
});

test("a token is renewed once before it ends, and serves meanwhile", async () => {
  const { state, ask, settle } = setup();
  void ask();
  await settle();
  state.now += 749_000;
  expect([ask(), state.minted]).toEqual(["token 1", 1]);
  state.now += 2_000;
  expect([ask(), ask(), state.minted]).toEqual(["token 1", "token 1", 2]);
  await settle();
  expect([ask(), state.minted]).toEqual(["token 2", 2]);
});

test("a renewal that fails is repeated later, and is logged; the old token serves until its end", async () => {
  const { state, ask, settle } = setup();
  void ask();
  await settle();
  [state.now, state.failing] = [state.now + 800_000, true];
  expect(ask()).toBe("token 1");
  await settle();
  expect([ask(), state.minted, state.logged]).toEqual(["token 1", 2, 1]);
  state.now += 5_000;
  expect([ask(), state.minted]).toEqual(["token 1", 3]);
  await settle();
  state.now += 190_000;
  const late = expect(ask()).rejects.toThrow("an outage");
  await settle();
  await late;
  state.failing = false;
  const next = ask();
  await settle();
  expect(await next).toBe("token 5");
});

test("one from before the clock was set back is not sent", async () => {
  const { state, ask, settle } = setup();
  void ask();
  await settle();
  state.now -= 1;
  const next = ask();
  await settle();
  expect(await next).toBe("token 2");
});

test("one that was under way when the key changed is not kept", async () => {
  const { cache, ask, settle } = setup();
  const first = ask();
  cache.clear();
  const second = ask();
  await settle();
  expect(await Promise.all([first, second])).toEqual(["token 1", "token 2"]);
  expect(ask()).toBe("token 2");
});

test("there is one for each audience, and all are forgotten beyond the limit", async () => {
  const { state, ask, settle } = setup({ tokensMax: 2 });
  for (const audience of ["a", "b", "c"]) {
    void ask(audience);
    await settle();
  }
  expect([ask("c"), state.minted]).toEqual(["token 3", 3]);
  expect(ask("a")).toBeInstanceOf(Promise);
  await settle();
});
