import http from "node:http";
import https from "node:https";
import process from "node:process";
import { OWN } from "../../src/names.ts";
import { type Given, textOf } from "./about.ts";
import { CommandFailure, usageFailure } from "./failure.ts";

/** A response that was read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. Undefined: it is none. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of a JSON document. */
  readonly body?: string | undefined;
}

const PORTS = {
  admin: { variable: "PERDURE_ADMIN", fallback: "http://127.0.0.1:9070" },
  ingress: { variable: "PERDURE_INGRESS", fallback: "http://127.0.0.1:8080" },
} as const;
export type Port = keyof typeof PORTS;

const TOKEN = "PERDURE_TOKEN";
const REFUSED = [401, 403];

/** The requests of one command to a server. */
export class ServerClient {
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  /**
   * Asks one of the ports, and waits as long as the answer takes. Rejects with `CommandFailure` when none
   * answers, and when the answer refuses (status 400 and above).
   */
  async ask(port: Port, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.attempt(port, path, ask);
    if (answer.status >= 400) throw refusalOf(answer, tokenOf(this.#given) !== undefined);
    return answer;
  }

  /** The same, but any answer is one. Rejects with `CommandFailure` only where there is none. */
  async attempt(port: Port, path: string, { method = "GET", headers, body }: Ask = {}) {
    const { variable, fallback } = PORTS[port];
    const address = textOf(this.#given, port) ?? (process.env[variable] || fallback);
    const base = urlOf(address, port);
    const token = tokenOf(this.#given);
    const sent = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    };
    try {
      return await exchange(new URL(base.href.replace(/\/$/, "") + path), { method, body, sent });
    } catch (cause) {
      throw unreachable(base, port, cause);
    }
  }
}

function urlOf(address: string, port: Port): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The address may hold a password, so it is not repeated.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(`Cannot read the address of --${port}: it is not http:// or https://`);
  }
  return url;
}

function tokenOf(given: Given): string | undefined {
  const token = textOf(given, "token") ?? process.env[TOKEN];
  if (token === undefined || token === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageFailure("Cannot use the token: it holds characters that are not visible ASCII");
}

/** One request. Not `fetch`, which ends a call that takes longer than five minutes. */
function exchange(
  url: URL,
  { method, body, sent }: {
    readonly method: string;
    readonly body: string | undefined;
    readonly sent: Readonly<Record<string, string>>;
  },
): Promise<Answer> {
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers: sent, agent: false }, (response) => {
      const pieces: Uint8Array[] = [];
      response.on("data", (piece: Uint8Array) => pieces.push(piece)).once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(pieces).toString("utf8");
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text, json: parsed(text) });
      });
    });
    asking.once("error", reject).end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable({ origin }: URL, port: Port, cause: unknown): CommandFailure {
  const { code, message } = cause as { readonly code?: string; readonly message?: string };
  return new CommandFailure(
    "unreachable",
    `Cannot reach a server at ${origin}: ${code ?? message}. Start one with "perdure serve", ` +
      `or say where it is with --${port} or $${PORTS[port].variable}`,
    { cause },
  );
}

/** What a server said when it refused. `hasToken`: one was shown. */
function refusalOf({ status, headers, text, json }: Answer, hasToken: boolean): CommandFailure {
  const fields = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  const said = typeof fields["message"] === "string" ? fields["message"] : text.slice(0, 500);
  const code = Object.entries(fields).find(([name]) => name.endsWith("_code"))?.[1];
  // The failure of a handler comes with the id of its invocation, and no token helps against it.
  const isRefused = REFUSED.includes(status) && headers[`x-${OWN}-id`] === undefined;
  // Without a token a server says 403 only where it asks for none: of an address that is not its own.
  const isAdvised = isRefused && (status === 401 || hasToken);
  const advice = isAdvised ? `. Set $${TOKEN} to a token that may do it` : "";
  return new CommandFailure(
    isRefused ? "refused" : "failed",
    `The server answered ${status}: ${said || "nothing"}${advice}`,
    typeof code === "string" ? { code } : {},
  );
}
