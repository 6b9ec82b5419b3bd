import type { Dial } from "../dial.ts";
import { Failure } from "../errors.ts";
import type { Clock, Log, Random } from "../ports.ts";
import { WatchedFile } from "../watched_file.ts";
import type { WrongTokens } from "./address_paces.ts";
import { Authenticator } from "./authenticator.ts";
import { callsVerifier, type CallsVerifierOptions } from "./calls_token.ts";
import { type AddressOf, clientAddress } from "./client_address.ts";
import { ADMIN, CALLER, type Identity } from "./grants.ts";
import { type JwtSettings, openJwt } from "./jwt.ts";
import { SessionKeys, type SessionKeyStore } from "./session_keys.ts";
import { Sessions } from "./sessions.ts";
import { isClosed } from "./settings.ts";
import { BadTokenList, digestOf, parseTokenList, type TokenList } from "./token_list.ts";

/** What is undefined is not set. */
export interface AuthSettings {
  readonly adminToken: string | undefined;
  readonly ingressToken: string | undefined;
  /** The text of a list of tokens. */
  readonly tokens: string | undefined;
  /** The path of a list of tokens. */
  readonly tokensFile: string | undefined;
  /** As in `AuthenticatorOptions`. */
  readonly wrongTokens: WrongTokens;
  /** In which a proxy in front tells the address of its client. */
  readonly clientAddressHeader: string | undefined;
  readonly jwt: JwtSettings;
  /** As in `SessionsOptions`. */
  readonly sessionLifetimeMs: number;
}

export interface AuthDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the issuer of JSON Web Tokens for its keys, within the egress rules. */
  readonly dial: Dial;
  readonly random: Random;
  /** Absent: sessions of the UI end with the process. */
  readonly sessionKeys?: SessionKeyStore | undefined;
  /** Knows the addresses of connections. Absent: they are not known. */
  readonly reader?: { readonly address?: AddressOf } | undefined;
  /** Absent where there are no files. Rejects when one cannot be read. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** What checks the requests of each interface. Undefined: they need no token. */
export interface Auth {
  readonly admin: Authenticator | undefined;
  readonly ingress: Authenticator | undefined;
  /** Sessions of the UI. Undefined: the admin API needs no token. */
  readonly sessions: Sessions | undefined;
  /** Stops polling files. */
  close(): void;
}

/**
 * Reads the tokens (docs/security.md#tokens). Resolves to undefined when nothing asks for one. Rejects
 * with `Failure` RT0002 that names the setting and quotes no token.
 */
export async function openAuth(settings: AuthSettings, deps: AuthDeps): Promise<Auth | undefined> {
  const closed = isClosed(settings);
  if (!closed.admin && !closed.ingress) return undefined;
  const fixed = await fixedTokens(settings);
  const file = tokensFile(settings, deps);
  const listed = file && await named("auth.tokens-file", () => file.open());
  const jwt = await openJwt(settings.jwt, deps);
  const [now, lifetimeMs] = [() => deps.clock.now(), settings.sessionLifetimeMs];
  const keys = new SessionKeys({ ...deps, store: deps.sessionKeys, now, lifetimeMs });
  const identify: CallsVerifierOptions["identify"] = (authorization, client) =>
    authenticator.identify(authorization, client);
  const authenticator: Authenticator = new Authenticator({
    tokens: merged(fixed, listed),
    verifier: callsVerifier({ keys, identify, now, next: jwt }),
    wrongTokens: settings.wrongTokens,
    addressOf: clientAddress(settings.clientAddressHeader, deps.reader?.address),
    now,
    log: deps.log,
  });
  file?.watch((tokens) => {
    authenticator.use(merged(fixed, tokens));
    deps.log("info", "The list of tokens was read again", { tokens: tokens.size });
  });
  return {
    admin: closed.admin ? authenticator : undefined,
    ingress: closed.ingress ? authenticator : undefined,
    sessions: closed.admin
      ? new Sessions({ ...deps, authenticator, keys, lifetimeMs, now })
      : undefined,
    close: () => {
      file?.close();
      jwt?.close();
    },
  };
}

/** The tokens that settings hold themselves. */
async function fixedTokens(
  { adminToken, ingressToken, tokens = "" }: AuthSettings,
): Promise<TokenList> {
  const list = new Map(await named("auth.tokens", async () => parseTokenList(tokens)));
  const add = async (token: string | undefined, identity: Identity) => {
    if (token !== undefined) list.set(await digestOf(token), identity);
  };
  await add(ingressToken, { name: "ingress.token", ...CALLER });
  // After it: who sets the same for both means the one that may do more.
  await add(adminToken, { name: "admin.token", ...ADMIN });
  return list;
}

function tokensFile(
  { tokensFile }: AuthSettings,
  { readTextFile, clock, log }: AuthDeps,
): WatchedFile<TokenList> | undefined {
  if (tokensFile === undefined) return undefined;
  if (!readTextFile) {
    throw new Failure("RT0002", 'Cannot use "auth.tokens-file": this platform has no files');
  }
  return new WatchedFile({
    read: () => readTextFile(tokensFile),
    parse: parseTokenList,
    complaint: "Cannot read the list of tokens again; the old one stays in use",
    reasonOf,
    clock,
    log,
  });
}

function merged(fixed: TokenList, listed: TokenList | undefined): TokenList {
  return listed ? new Map([...listed, ...fixed]) : fixed;
}

async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new Failure("RT0002", `Cannot read "${name}": ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof BadTokenList) return cause.message;
  return cause instanceof Error ? cause.message : String(cause);
}
