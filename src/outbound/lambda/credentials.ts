import type { Dial, DialRequest } from "../../dial.ts";
import type { Clock } from "../../ports.ts";
import { collect } from "../../collect.ts";
import { encodePart } from "../percent.ts";
import { type Credentials, signedHeaders } from "./sign.ts";

/** Calls of a function cannot be signed. The message holds no secret. */
export class NoCredentials extends Error {
  override name = "NoCredentials";
}

export interface CredentialSettings {
  /** The server's own credentials, from its environment. Absent: there are none. */
  readonly credentials?: Credentials | undefined;
  /** The external id that is sent when a role is assumed. */
  readonly externalId?: string | undefined;
  /** URL of the service that issues credentials of roles, instead of the cloud's own. */
  readonly roleServiceUrl?: string | undefined;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
}

interface TemporaryCredentials {
  readonly credentials: Credentials;
  /** When the credentials expire, in milliseconds since the epoch. */
  readonly until: number;
}

/** Credentials of roles are renewed this long before they expire. */
const MARGIN_MS = 300_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** How many roles are cached; beyond it the cache is emptied. */
const ROLES_MAX = 1000;

export const MISSING =
  "there are no credentials to call functions with: set AWS_ACCESS_KEY_ID and " +
  "AWS_SECRET_ACCESS_KEY in the environment of the server";

/**
 * The server's own credentials, and those of roles that it assumes. The own ones come from the
 * settings; no metadata address is asked for them.
 */
export class Keyring {
  readonly #settings: CredentialSettings;
  readonly #deps: { readonly dial: Dial; readonly clock: Clock };
  readonly #temporary = new Map<string, TemporaryCredentials>();
  readonly #underway = new Map<string, Promise<Credentials>>();

  constructor(
    settings: CredentialSettings,
    deps: { readonly dial: Dial; readonly clock: Clock },
  ) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /** Whether there are no credentials to sign with. */
  get isEmpty(): boolean {
    return this.#settings.credentials === undefined;
  }

  /**
   * The server's own credentials, synchronously, or those of a role in a region. Throws or rejects
   * with `NoCredentials`.
   */
  find(
    role: string | undefined,
    place: { readonly region: string; readonly domain: string },
  ): Credentials | Promise<Credentials> {
    const { credentials } = this.#settings;
    if (!credentials) throw new NoCredentials(MISSING);
    if (role === undefined) return credentials;
    const { now } = this.#deps.clock;
    const temporary = this.#temporary.get(role);
    if (temporary && now() < temporary.until - MARGIN_MS) return temporary.credentials;
    let underway = this.#underway.get(role);
    if (!underway) {
      this.#underway.set(role, underway = this.#assumeRole(role, { credentials, ...place }));
    }
    return underway;
  }

  async #assumeRole(
    role: string,
    options: {
      readonly credentials: Credentials;
      readonly region: string;
      readonly domain: string;
    },
  ): Promise<Credentials> {
    const { dial, clock } = this.#deps;
    const { timeoutMs } = this.#settings;
    try {
      const { request, body } = this.#ask(role, options);
      const limits = { timeoutMs, bodyBytesMax: ANSWER_BYTES_MAX };
      const collected = await collect(request, { dial, clock, body, ...limits });
      if (collected.kind === "timeout") throw refused(role, `no answer within ${timeoutMs} ms`);
      if (collected.kind === "failed") throw refused(role, collected.failure.message);
      const text = new TextDecoder().decode(collected.body);
      if (collected.head.status !== 200) {
        const reason = fieldOf(text, "Message") ?? "no reason given";
        throw refused(role, `status ${collected.head.status}: ${reason}`);
      }
      const temporary = parseTemporary(role, text);
      if (this.#temporary.size >= ROLES_MAX) this.#temporary.clear();
      this.#temporary.set(role, temporary);
      return temporary.credentials;
    } finally {
      this.#underway.delete(role);
    }
  }

  #ask(
    role: string,
    { credentials, region, domain }: {
      readonly credentials: Credentials;
      readonly region: string;
      readonly domain: string;
    },
  ): { readonly request: DialRequest; readonly body: Uint8Array } {
    const { roleServiceUrl, externalId, connectTimeoutMs } = this.#settings;
    const url = new URL(roleServiceUrl ?? `https://sts.${region}.${domain}/`).href;
    const form: Readonly<Record<string, string | undefined>> = {
      Action: "AssumeRole",
      Version: "2011-06-15",
      RoleArn: role,
      RoleSessionName: "perdure",
      ExternalId: externalId,
    };
    const pairs = Object.entries(form).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodePart(value)}`]
    );
    const body = new TextEncoder().encode(pairs.join("&"));
    const headers = {
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      "content-length": String(body.length),
    };
    const now = this.#deps.clock.now();
    const signing = { credentials, region, service: "sts", now };
    const signed = signedHeaders({ method: "POST", url, headers, body }, signing);
    return {
      request: { url, method: "POST", headers: signed, version: "h1", connectTimeoutMs },
      body,
    };
  }
}

function parseTemporary(role: string, text: string): TemporaryCredentials {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    "AccessKeyId",
    "SecretAccessKey",
    "SessionToken",
    "Expiration",
  ].map((name) => fieldOf(text, name));
  const until = Date.parse(expiration ?? "");
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(until)) {
    throw refused(role, "the answer holds no credentials");
  }
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, until };
}

/** The text of the first element of this name. The service's answers have no attributes. */
function fieldOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

function refused(role: string, reason: string): NoCredentials {
  return new NoCredentials(`the role '${role}' cannot be assumed: ${reason}`);
}
