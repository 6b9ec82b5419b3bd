import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { OauthbearerProviderResponse } from "kafkajs";
import { collect } from "../../src/collect.ts";
import type { Egress } from "../../src/outbound/egress/egress.ts";
import { isTrue } from "../../src/kafka/option_kinds.ts";
import type { Options } from "../../src/kafka/options.ts";
import { nodeDial } from "../dial/dial.ts";
import { clock } from "../platform/clock.ts";
import { shellCommand } from "../platform/shell.ts";

const COMMAND_MS = 10_000;
const ENDPOINT_MS = 10_000;
const TOKEN_BYTES_MAX = 65_536;
const HOUR_S = 3600;
/** The part of its life after which a token is replaced. */
const RENEW_AFTER = 0.8;

type Provider = () => Promise<OauthbearerProviderResponse>;

/** What the sidecar's command line allows. */
export interface TokenOptions {
  readonly areCommandsAllowed: boolean;
  /** Where connections may go. */
  readonly egress: Egress;
}

/**
 * Where a client gets its tokens for OAUTHBEARER: a command that prints one, an endpoint by OIDC
 * client credentials, or, for tests, tokens that nobody has signed. Throws if options name none.
 */
export function tokenProvider(options: Options, allowed: TokenOptions): Provider {
  const [command, method] = [options["sasl.oauthbearer.token.command"], "sasl.oauthbearer.method"];
  if (command !== undefined) return kept(commandTokens(command, allowed));
  if (options[method]?.toLowerCase() === "oidc") return kept(endpointTokens(options, allowed));
  if (isTrue(options["enable.sasl.oauthbearer.unsecure.jwt"] ?? "false")) {
    return kept(async () => ({ value: unsignedToken(options["sasl.oauthbearer.config"] ?? "") }));
  }
  throw new Error(
    "OAUTHBEARER needs sasl.oauthbearer.token.command, or sasl.oauthbearer.method=oidc with " +
      "sasl.oauthbearer.token.endpoint.url",
  );
}

interface Token {
  readonly value: string;
  /** How long it is good for, if that is said beside it. */
  readonly lifeS?: number | undefined;
}

/** kafkajs asks for each connection. */
function kept(fresh: () => Promise<Token>): Provider {
  let token: { readonly value: string; readonly renewAt: number } | undefined;
  return async () => {
    if (token === undefined || Date.now() >= token.renewAt) {
      const { value, lifeS = lifeOf(value) } = await fresh();
      token = { value, renewAt: Date.now() + lifeS * 1000 * RENEW_AFTER };
    }
    return { value: token.value };
  };
}

/** The time that a JWT says it has left, in seconds. 0 if it says nothing: it is not kept. */
function lifeOf(token: string): number {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return typeof claims.exp === "number" ? Math.max(0, claims.exp - Date.now() / 1000) : 0;
  } catch {
    return 0;
  }
}

function commandTokens(command: string, { areCommandsAllowed }: TokenOptions) {
  if (!areCommandsAllowed) {
    throw new Error(
      "sasl.oauthbearer.token.command needs a sidecar that is started with --allow-token-commands",
    );
  }
  return async (): Promise<Token> => {
    const { file, args, windowsVerbatimArguments } = shellCommand(command);
    const limits = { timeout: COMMAND_MS, maxBuffer: TOKEN_BYTES_MAX, windowsVerbatimArguments };
    const { stdout } = await promisify(execFile)(file, args, limits).catch(() => {
      // What it printed may hold secrets, and so may the command, which Node puts into its message.
      throw new Error("sasl.oauthbearer.token.command failed");
    });
    const value = stdout.trim();
    if (value === "") throw new Error("sasl.oauthbearer.token.command printed no token");
    return { value };
  };
}

function endpointTokens(options: Options, { egress }: TokenOptions): () => Promise<Token> {
  const url = options["sasl.oauthbearer.token.endpoint.url"];
  if (url === undefined) throw new Error("sasl.oauthbearer.token.endpoint.url is missing");
  const id = options["sasl.oauthbearer.client.id"] ?? "";
  const secret = options["sasl.oauthbearer.client.secret"] ?? "";
  const scope = options["sasl.oauthbearer.scope"];
  const encoded = [id, secret].map(encodeURIComponent).join(":");
  return async () => {
    const body = new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) });
    const answer = await askEndpoint(url, {
      egress,
      body: new TextEncoder().encode(body.toString()),
      authorization: `Basic ${Buffer.from(encoded).toString("base64")}`,
    });
    if (typeof answer.access_token !== "string") {
      throw new Error("The answer of the token endpoint has no access_token");
    }
    const lifeS = typeof answer.expires_in === "number" ? answer.expires_in : undefined;
    return { value: answer.access_token, lifeS };
  };
}

interface EndpointRequest extends Pick<TokenOptions, "egress"> {
  readonly body: Uint8Array;
  readonly authorization: string;
}

/** Redirects are not followed: the credentials are for this endpoint. */
async function askEndpoint(
  url: string,
  { egress, body, authorization }: EndpointRequest,
): Promise<{ readonly access_token?: unknown; readonly expires_in?: unknown }> {
  const headers = {
    authorization,
    "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
    "content-length": String(body.length),
  };
  const dial = nodeDial({ egress });
  const limits = { timeoutMs: ENDPOINT_MS, bodyBytesMax: TOKEN_BYTES_MAX };
  const collected = await collect(
    { url, method: "POST", headers, version: "h1", connectTimeoutMs: ENDPOINT_MS },
    { dial, clock, body, ...limits },
  ).finally(() => dial.close());
  if (collected.kind === "failed" && collected.failure.kind === "forbidden") {
    throw new Error(`Cannot ask the token endpoint: ${collected.failure.message}`);
  }
  if (collected.kind !== "answer") throw new Error("The token endpoint cannot be reached");
  const { status } = collected.head;
  if (status < 200 || status > 299) throw new Error(`The token endpoint answers ${status}`);
  try {
    return JSON.parse(new TextDecoder().decode(collected.body)) ?? {};
  } catch {
    // What it answered may hold secrets.
    throw new Error("The token endpoint answers something else than JSON");
  }
}

/** As librdkafka makes them of `principal=NAME`, `scope` and `lifeSeconds`. */
function unsignedToken(config: string): string {
  const pairs = new Map(config.split(/\s+/).map((pair) => pair.split("=") as [string, string]));
  const now = Math.floor(Date.now() / 1000);
  const scopes = pairs.get("scope")?.split(",");
  const claims = {
    [pairs.get("principalClaimName") ?? "sub"]: pairs.get("principal") ?? "",
    iat: now,
    exp: now + Number(pairs.get("lifeSeconds") ?? HOUR_S),
    ...(scopes && { [pairs.get("scopeClaimName") ?? "scope"]: scopes }),
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.`;
}
