import { bench } from "vitest";
import { Authenticator } from "../../src/auth/authenticator.ts";
import { ADMIN } from "../../src/auth/grants.ts";
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
  wrongTokensMax: 10,
  now: Date.now,
  log: () => {},
});
for (const header of headers) await authenticator.identify(header);
// Headers are texts of their own in each request, and never the one that is cached.
const fresh = () => headers.map((header) => Buffer.from(header).toString());

bench("500 tokens that were shown before", () => {
  for (const header of fresh()) authenticator.identify(header);
});

bench("500 tokens for the first time", async () => {
  authenticator.use(tokens);
  for (const header of headers) await authenticator.identify(header);
});
