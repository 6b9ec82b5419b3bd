import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { bench } from "vitest";
import { nodeDial } from "../../adapters/dial/dial.ts";
import { Authenticator } from "../../src/auth/authenticator.ts";
import { ADMIN } from "../../src/auth/grants.ts";
import { openJwt } from "../../src/auth/jwt.ts";
import { digestOf } from "../../src/auth/token_list.ts";

const headers = Array.from({ length: 500 }, (_, at) => `Bearer ${"t".repeat(60)}${at}`);
const tokens = new Map(
  await Promise.all(
    headers.map(async (header) =>
      [await digestOf(header.slice(7)), { name: "t", ...ADMIN }] as const
    ),
  ),
);
const authenticator = new Authenticator({
  tokens,
  wrongTokens: { perAddress: 10, total: 100 },
  now: Date.now,
  log: () => {},
});
for (const header of headers) await authenticator.identify(header);
// Headers are texts of their own in each request, and never the one that is cached.
const fresh = (all = headers) => all.map((header) => Buffer.from(header).toString());

const ISSUER = "https://issuer.example";
const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const keys = JSON.stringify({ keys: [{ ...await exportJWK(publicKey), kid: "k", alg: "ES256" }] });
const signed = await Promise.all(
  headers.map(async (_, at) => {
    const claims = { iss: ISSUER, sub: `user ${at}`, roles: ["operator"] };
    const token = new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k" });
    return `Bearer ${await token.setExpirationTime("1 h").sign(privateKey)}`;
  }),
);
const verifier = await openJwt({
  ...{ issuer: ISSUER, audience: undefined, keys: "keys.json" },
  ...{ rolesClaim: "roles", clockSkewMs: 0 },
}, {
  clock: { now: Date.now, at: () => () => {}, soon: (call) => void setImmediate(call) },
  log: () => {},
  dial: nodeDial(),
  readTextFile: () => Promise.resolve(keys),
});
const ofIssuer = new Authenticator({
  tokens: new Map(),
  wrongTokens: { perAddress: 1_000, total: 1_000 },
  now: Date.now,
  log: () => {},
  verifier,
});
for (const header of signed) await ofIssuer.identify(header);

bench("500 tokens that were shown before", () => {
  for (const header of fresh()) authenticator.identify(header);
});

bench("500 tokens for the first time", async () => {
  authenticator.use(tokens);
  for (const header of headers) await authenticator.identify(header);
});

bench("500 tokens of an issuer that were shown before", () => {
  for (const header of fresh(signed)) ofIssuer.identify(header);
});

bench("500 tokens of an issuer for the first time", async () => {
  ofIssuer.use(new Map());
  for (const header of signed) await ofIssuer.identify(header);
});
