import { expect, test } from "vitest";
import { Authenticator, type TokenVerifier } from "../../src/auth/authenticator.ts";
import { ADMIN, CALLER, type Identity } from "../../src/auth/grants.ts";
import { digestOf } from "../../src/auth/token_list.ts";
import { Failure } from "../../src/errors.ts";

const ada: Identity = { name: "ada", ...ADMIN };
const bob: Identity = { name: "bob", ...CALLER };
const listed = async (...tokens: [string, Identity][]) =>
  new Map(
    await Promise.all(tokens.map(async ([token, who]) => [await digestOf(token), who] as const)),
  );

async function setup({ verifier, wrongTokensMax = 10 }: {
  readonly verifier?: TokenVerifier;
  readonly wrongTokensMax?: number;
} = {}) {
  const world = { now: 1_000_000, logged: [] as string[] };
  const authenticator = new Authenticator({
    tokens: await listed(["token-of-ada", ada], ["token-of-bob", bob]),
    verifier,
    wrongTokensMax,
    now: () => world.now,
    log: (_level, message, fields) => world.logged.push(message + JSON.stringify(fields ?? {})),
  });
  const ask = async (header: string | null | undefined): Promise<string> => {
    try {
      return (await authenticator.identify(header)).name;
    } catch (cause) {
      if (cause instanceof Failure) return `${cause.status} ${cause.message}`;
      throw cause;
    }
  };
  return { world, authenticator, ask };
}

test("tells who shows a token, whatever case the scheme is in", async () => {
  const { ask } = await setup();
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    expect(await ask(`${scheme} token-of-ada`)).toBe("ada");
  }
  expect(await ask("Bearer  token-of-bob ")).toBe("bob");
});

test.each([
  null,
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "Basic token-of-ada",
  "token-of-ada",
  "Bearer a b",
])(
  "says how to show one to %j",
  async (header) => {
    const { ask, world } = await setup();
    expect(await ask(header)).toMatch(/^401 .*authorization: Bearer/);
    expect(world.logged).toEqual([]);
  },
);

test.each(["token-of-ad", "token-of-ada2", "TOKEN-OF-ADA", "tokén"])(
  "refuses %j, and logs no part of it",
  async (token) => {
    const { ask, world } = await setup();
    expect(await ask(`Bearer ${token}`)).toMatch(/^401 the bearer token is unknown/);
    expect(world.logged).toHaveLength(1);
    expect(world.logged[0]).not.toContain(token);
  },
);

test("a known header is answered at once, without a promise", async () => {
  const { authenticator } = await setup();
  expect(authenticator.identify("Bearer token-of-ada")).toBeInstanceOf(Promise);
  await authenticator.identify("Bearer token-of-ada");
  expect(authenticator.identify("Bearer token-of-ada")).toBe(ada);
});

test("a list that takes the place of another counts at once", async () => {
  const { authenticator, ask } = await setup();
  expect(await ask("Bearer token-of-ada")).toBe("ada");
  authenticator.use(await listed(["new-token", ada]));
  expect(await ask("Bearer token-of-ada")).toMatch(/^401/);
  expect(await ask("Bearer new-token")).toBe("ada");
});

test("beyond its pace it checks no token that was not in use, right or wrong", async () => {
  const { ask, world } = await setup({ wrongTokensMax: 2 });
  expect(await ask("Bearer token-of-ada")).toBe("ada");
  for (let i = 0; i < 20; i++) expect(await ask(`Bearer wrong-${i}`)).toMatch(/^401/);
  expect(await ask("Bearer wrong")).toMatch(/^429 too many wrong tokens/);
  expect(await ask("Bearer token-of-bob")).toMatch(/^429/);
  expect(await ask("Bearer token-of-ada")).toBe("ada");
  world.now += 1000;
  expect(await ask("Bearer token-of-bob")).toBe("bob");
  expect(await ask("Bearer wrong")).toMatch(/^401/);
  // A clock that is set back neither opens nor closes it.
  world.now -= 3_600_000;
  expect(await ask("Bearer wrong")).toMatch(/^401/);
  expect(await ask("Bearer wrong")).toMatch(/^429/);
});

test("beyond its pace it checks tokens that were in use, also those whose time is over", async () => {
  let isValid = true;
  const verifier: TokenVerifier = {
    verify: (token) =>
      Promise.resolve(
        token === "jwt" && isValid ? { identity: bob, until: 1_005_000 } : undefined,
      ),
  };
  const { authenticator, ask, world } = await setup({ verifier, wrongTokensMax: 2 });
  expect(await ask("Bearer jwt")).toBe("bob");
  expect(await ask("Bearer token-of-ada")).toBe("ada");
  for (let i = 0; i < 20; i++) await ask(`Bearer wrong-${i}`);
  // A list that is read again, and the end of what a token of an issuer may be cached for.
  authenticator.use(await listed(["token-of-ada", ada]));
  expect(await ask("Bearer token-of-ada")).toBe("ada");
  world.now = 1_005_000;
  for (let i = 0; i < 20; i++) await ask(`Bearer wrong-${i}`);
  expect(await ask("Bearer wrong")).toMatch(/^429/);
  expect(await ask("Bearer jwt")).toBe("bob");
  // One that is no longer valid is unknown from then on.
  isValid = false;
  expect(await ask("Bearer jwt")).toMatch(/^401/);
  expect(await ask("Bearer jwt")).toMatch(/^429/);
});

test("asks the verifier of other tokens, until their time", async () => {
  const asked: string[] = [];
  const verifier: TokenVerifier = {
    verify(token) {
      asked.push(token);
      if (token === "gone") throw Failure.plain(503, "no issuer");
      return Promise.resolve(token === "jwt" ? { identity: bob, until: 1_005_000 } : undefined);
    },
  };
  const { ask, world } = await setup({ verifier });
  expect(await ask("Bearer jwt")).toBe("bob");
  expect(await ask("Bearer jwt")).toBe("bob");
  expect(asked).toEqual(["jwt"]);
  world.now = 1_005_000;
  expect(await ask("Bearer jwt")).toBe("bob");
  expect(asked).toEqual(["jwt", "jwt"]);
  expect(await ask("Bearer gone")).toMatch(/^503/);
  expect(await ask("Bearer other")).toMatch(/^401/);
});

test("remembers a bounded number of headers", async () => {
  const verifier: TokenVerifier = {
    verify: () => Promise.resolve({ identity: bob, until: Infinity }),
  };
  const { authenticator, ask } = await setup({ verifier });
  for (let i = 0; i <= 10_000; i++) await ask(`Bearer token-${i}`);
  expect(authenticator.identify("Bearer token-10000")).toBe(bob);
  expect(authenticator.identify("Bearer token-0")).toBeInstanceOf(Promise);
});
