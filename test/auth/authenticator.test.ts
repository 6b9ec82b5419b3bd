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

async function setup({ verifier, wrongTokensMax = 10, totalMax = wrongTokensMax }: {
  readonly verifier?: TokenVerifier;
  readonly wrongTokensMax?: number;
  readonly totalMax?: number;
} = {}) {
  const world = { now: 1_000_000, logged: [] as string[], asked: 0 };
  const authenticator = new Authenticator({
    tokens: await listed(["token-of-ada", ada], ["token-of-bob", bob]),
    verifier,
    wrongTokens: { perAddress: wrongTokensMax, total: totalMax },
    addressOf: ({ headers }) => {
      world.asked++;
      return headers.get("address") ?? undefined;
    },
    now: () => world.now,
    log: (_level, message, fields) => world.logged.push(message + JSON.stringify(fields ?? {})),
  });
  const ask = async (
    header: string | null | undefined,
    address?: string,
  ): Promise<string> => {
    try {
      const request = new Request("http://127.0.0.1/", { headers: address ? { address } : {} });
      return (await authenticator.identify(header, { request })).name;
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

test("wrong tokens of one address close no other, and all together close new ones", async () => {
  const { ask, world } = await setup({ wrongTokensMax: 2, totalMax: 3 });
  expect(await ask("Bearer token-of-bob", "bobs")).toBe("bob");
  for (let i = 0; i < 20; i++) expect(await ask(`Bearer wrong-${i}`, "flood-1")).toMatch(/^401/);
  expect(await ask("Bearer token-of-ada", "flood-1")).toMatch(/^429 .* from this address\./);
  // A token in use is known from everywhere.
  expect(await ask("Bearer token-of-bob", "flood-1")).toBe("bob");
  expect(await ask("Bearer wrong", "another")).toMatch(/^401/);
  for (let i = 0; i < 9; i++) expect(await ask(`Bearer wrong-${i}`, "flood-2")).toMatch(/^401/);
  expect(await ask("Bearer token-of-ada", "flood-2")).toMatch(/^429 .* from all addresses\./);
  expect(await ask("Bearer token-of-ada", "a new one")).toMatch(/^429 .* from all addresses\./);
  // Where a valid token has come from, they do not count.
  expect(await ask("Bearer token-of-ada", "bobs")).toBe("ada");
  world.now += 1000;
  expect(await ask("Bearer wrong", "flood-1")).toMatch(/^401/);
  expect(await ask("Bearer wrong", "a new one")).toMatch(/^401/);
});

test("the address of a client whose token is in use is not asked for", async () => {
  const { world, ask } = await setup();
  expect(await ask("Bearer token-of-ada", "adas")).toBe("ada");
  expect(world.asked).toBe(1);
  expect(await ask("Bearer token-of-ada", "adas")).toBe("ada");
  expect(world.asked).toBe(1);
});

test("a token that this server has sealed costs no wrong token", async () => {
  const { authenticator, ask } = await setup({ wrongTokensMax: 1 });
  for (let i = 0; i < 20; i++) {
    const asked = Promise.resolve(authenticator.identify("Bearer gone", { isSealed: true }));
    await expect(asked).rejects.toThrow("the bearer token is unknown");
  }
  expect(await ask("Bearer token-of-ada")).toBe("ada");
});

test("tells the address of a wrong token in the log, if it is known", async () => {
  const { ask, world } = await setup();
  await ask("Bearer wrong", "192.0.2.1");
  await ask("Bearer wrong");
  const message = "A request with an unknown token was refused";
  expect(world.logged).toEqual([`${message}{"address":"192.0.2.1"}`, `${message}{}`]);
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
