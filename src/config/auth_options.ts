import { choice, count, duration, optionalText, texts } from "./kinds.ts";
import { option } from "./option.ts";

/** Sent in a header. */
const TOKEN = /^[\x21-\x7e]*$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]*$/;
const token = optionalText("a token of visible ASCII characters, or nothing", TOKEN);

/** Settings of who may do what (docs/security.md). */
export const authOptions = {
  "auth.mode": option(choice("required", "generate", "none"), "required", {
    doc: "`required`: a port beyond this machine needs tokens, else the start fails (RT0002). " +
      "`generate`: a port without a token gets one that the first start makes, in `admin.token` " +
      "of `base-dir`. " +
      "`none`: ports without tokens may be open to a network.",
  }),
  "admin.token": option(token, "", {
    doc: "A bearer token that may do everything, on both ports. With it the admin API needs one.",
    secret: true,
  }),
  "ingress.token": option(token, "", {
    doc: "A bearer token that may call all handlers. With it callers need one.",
    secret: true,
  }),
  "auth.tokens-file": option(optionalText("the path of a file"), "", {
    doc:
      "A list of tokens with their roles, for both ports (docs/security.md). Read again when it changes.",
  }),
  "auth.tokens": option(optionalText("a list of tokens, a line for each"), "", {
    doc: "The same list itself, for the environment.",
    secret: true,
  }),
  "auth.wrong-tokens-limit-per-address": option(count(1), "10", {
    doc: "Wrong tokens a second from one IPv4 address, or one /64 network of IPv6. Beyond it, " +
      "tokens from there that were not in use before are answered with 429.",
  }),
  "auth.wrong-tokens-limit": option(count(1), "100", {
    doc: "Wrong tokens a second from all addresses that have shown no valid one. Beyond it, " +
      "tokens from such addresses that were not in use before are answered with 429.",
  }),
  "auth.client-address-header": option(optionalText("the name of a header", HEADER_NAME), "", {
    doc: "A header in which the proxy in front tells the address of its client, such as " +
      "`x-real-ip`, for these limits. Of a list the last address counts. Empty: the address of " +
      "the connection.",
  }),
  "auth.jwt.issuer": option(optionalText("the issuer as tokens name it, or nothing"), "", {
    doc: "Whose JSON Web Tokens are accepted, on both ports. Needs `auth.jwt.keys`.",
  }),
  "auth.jwt.audience": option(optionalText("a text, or nothing"), "", {
    doc: "The audience that a JSON Web Token must name. Empty: it is not checked.",
  }),
  "auth.jwt.keys": option(optionalText("an http or https URL, or the path of a file"), "", {
    doc:
      "The JSON Web Key Set of the issuer: its URL, or a file, which is read again when it changes.",
  }),
  "auth.jwt.roles-claim": option(optionalText("the name of a claim"), "roles", {
    doc: "The claim that holds the roles of a JSON Web Token: a list, or a text with spaces.",
  }),
  "auth.jwt.clock-skew": option(duration(), "30s", {
    doc: "How far the clock of the issuer may differ.",
  }),
  "auth.session-lifetime": option(duration(1_000), "12h", {
    doc: "How long a session of the UI counts after signing in. It ends earlier with its token.",
  }),
  "admin.allowed-hosts": option(texts(), "[]", {
    doc:
      "Names by which the admin API may be reached, beside those of this machine, addresses and " +
      "names without a dot. Others are answered with 403. Empty: with tokens, any name; `*`: any.",
  }),
  "ingress.cors-origins": option(texts(), '["*"]', {
    doc: 'Origins whose pages may read answers, such as "https://shop.example.com". `*`: all.',
  }),
} as const;
