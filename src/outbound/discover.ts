import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import type { AdditionalHeaders, IdentityToken } from "../model/endpoint_credentials.ts";
import type { Deployment, Lambda } from "../model/schema.ts";
import { DIALECTS, header } from "../names.ts";
import type { Dial, DialHead, DialRequest } from "../dial.ts";
import type { Clock } from "../ports.ts";
import { acceptManifests, type Manifest, manifestDialect, readManifest } from "../wire/manifest.ts";
import { inSlices } from "../slices.ts";
import { checkHeaders, joinPath, storedHeaders } from "./address.ts";
import { collect, type Collected } from "../collect.ts";
import { type Credentials, withCredentials } from "./credentials/credentials.ts";
import { signedDial } from "./identity/signed_dial.ts";
import type { Signer } from "./identity/signer.ts";
import type { Functions } from "./lambda/functions.ts";
import { printStatus } from "./response.ts";
import { echo, timedOut, unreachable } from "./unreachable.ts";

/** An endpoint that is asked for its manifest. */
export interface DiscoverRequest {
  /** Absolute URL, as registered: `http` or `https`, possibly with a query string. Or an ARN. */
  readonly uri: string;
  /** Present when the endpoint is a function. */
  readonly lambda?: Lambda | undefined;
  /** Use HTTP/1.1 even where HTTP/2 would work. */
  readonly useHttp11: boolean;
  readonly additionalHeaders: AdditionalHeaders;
  /** The token that the request carries. Absent: none. */
  readonly identityToken?: IdentityToken | undefined;
}

/** The claims of the signature (docs/spec/service-protocol.md#signed-requests). */
const CLAIMS = { audience: "/discover" } as const;

export interface DiscoverOptions {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly clusterName: string;
  readonly connectTimeoutMs: number;
  /** The time limit of one request, from sending it to the last byte of its response. */
  readonly timeoutMs: number;
  /** The largest manifest read; a larger one is META0013. */
  readonly bodyBytesMax: number;
  /** Services and handlers of a manifest, together. More are META0013. */
  readonly partsMax: number;
  /** Signs the request. Absent: it is not signed. */
  readonly signer?: Signer | undefined;
  /** Calls functions. Absent: functions cannot be registered. */
  readonly functions?: Functions | undefined;
  /** What requests show. Absent: only headers that are stored. */
  readonly credentials?: Credentials | undefined;
}

export const DISCOVER_LIMITS = {
  connectTimeoutMs: 10_000,
  timeoutMs: 30_000,
  bodyBytesMax: 16 * 1024 * 1024,
  partsMax: 20_000,
} as const;

/** The manifest of an endpoint, and how the endpoint was reached. */
export interface Discovered extends Pick<Deployment, "httpVersion" | "dialect" | "sdkVersion"> {
  readonly manifest: Manifest;
}

/**
 * Pauses between the five requests to an endpoint that may still be starting
 * (docs/spec/service-protocol.md#discovery).
 */
const PAUSES_MS = [100, 200, 400, 800] as const;
const RETRIED: readonly number[] = [408, 429, 500, 502, 503, 504];

/**
 * Asks an endpoint for its manifest (docs/spec/service-protocol.md#discovery). Rejects with a
 * `Failure` (docs/spec/service-protocol.md#registration-errors): META0003 unreachable or another
 * status than 200; META0018 an address that may not be called; META0019 what the request cannot show; META0012 no common protocol version; META0013 not a manifest; META0014 an
 * HTTP/1.1 server; META0015 bidirectional mode over a transport that lacks it; without code and
 * status 400 for headers that cannot be sent; and whatever `readManifest` throws.
 */
export async function discover(
  request: DiscoverRequest,
  options: DiscoverOptions,
): Promise<Discovered> {
  checkHeaders(request.additionalHeaders);
  options.credentials?.check(request);
  const dialRequest = requestOf(request, options);
  const { signer } = options;
  const plain = dialOf(request, options);
  const dial = signer ? signedDial(plain, { signer, claims: CLAIMS, dialects: DIALECTS }) : plain;
  let collected = await collect(dialRequest, { ...options, dial });
  for (const pause of PAUSES_MS) {
    if (!mayPass(collected)) break;
    await sleep(options.clock, pause);
    collected = await collect(dialRequest, { ...options, dial });
  }
  return await accept(request, collected, options);
}

/**
 * The dial for an endpoint or a function, whose requests show what they have to. Throws `Failure` META0003
 * for a function without credentials to call it with.
 */
export function dialOf(
  to: Omit<DiscoverRequest, "useHttp11">,
  { dial, functions, credentials }: Pick<DiscoverOptions, "dial" | "functions" | "credentials">,
): Dial {
  const { uri, lambda } = to;
  if (!lambda) return withCredentials(dial, to, credentials);
  assert(functions, "Whoever registers functions must be able to speak to them");
  functions.check(uri);
  return withCredentials(functions.dial(uri, lambda), to, credentials);
}

function requestOf(request: DiscoverRequest, options: DiscoverOptions): DialRequest {
  const { uri, useHttp11, additionalHeaders } = request;
  // It is not known yet which spelling of header names this endpoint reads.
  const names = DIALECTS.map((dialect) =>
    [header(dialect, "cluster-name"), options.clusterName] as const
  );
  const headers = {
    accept: acceptManifests(),
    ...Object.fromEntries(names),
    ...storedHeaders(additionalHeaders),
  };
  const secure = uri.slice(0, 6).toLowerCase() === "https:";
  const version = useHttp11 ? "h1" : secure ? "alpn" : "h2";
  const { connectTimeoutMs } = options;
  return { url: joinPath(uri, "discover"), method: "GET", headers, version, connectTimeoutMs };
}

/** Whether another request may succeed: the endpoint may be starting, or busy. */
function mayPass(collected: Collected): boolean {
  switch (collected.kind) {
    case "answer":
      return RETRIED.includes(collected.head.status);
    case "failed":
      return ["unreachable", "reset", "busy"].includes(collected.failure.kind);
    case "timeout":
      return false;
  }
}

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.at(clock.now() + ms, resolve));
}

async function accept(
  { uri, lambda }: DiscoverRequest,
  collected: Collected,
  options: DiscoverOptions,
): Promise<Discovered> {
  if (collected.kind === "failed") throw unreachable(uri, collected.failure);
  if (collected.kind === "timeout") throw timedOut(uri, options.timeoutMs);
  const { head, body, cut } = collected;
  if (head.status !== 200) throw badStatus(head, body);
  const dialect = dialectOf(head);
  if (cut) {
    throw bad(`the manifest is larger than the limit of ${options.bodyBytesMax} bytes`);
  }
  const { clock, partsMax } = options;
  const manifest = await inSlices(readManifest(body, partsMax), (call) => clock.soon(call));
  if (manifest.mode === "bidi" && (lambda || head.httpVersion === "HTTP/1.0")) {
    const where = lambda ? "is a function" : "answered in HTTP/1.0";
    throw new Failure(
      "META0015",
      `the endpoint announces bidirectional mode, but ${where}, which lacks it`,
    );
  }
  const sdkVersion = head.header(header(dialect, "server"));
  return {
    manifest,
    httpVersion: head.httpVersion === "HTTP/2.0" ? "HTTP/2.0" : "HTTP/1.1",
    dialect,
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
}

function badStatus(head: DialHead, body: Uint8Array): Failure {
  const hint = head.status === 404
    ? ". Make sure the provided URI has the correct path where the SDK endpoint is mounted"
    : "";
  const status = printStatus(head.status);
  return new Failure("META0003", `got status code '${status}'${hint}${echo(body)}`);
}

/**
 * The content type of the response must be exactly one of the types asked for, without parameters.
 */
function dialectOf(head: DialHead): Discovered["dialect"] {
  const contentType = head.header("content-type");
  const dialect = contentType === undefined ? undefined : manifestDialect(contentType);
  if (dialect) return dialect;
  const what = contentType === undefined
    ? "No content type header was specified"
    : `Bad content type header: "${contentType}"`;
  throw bad(`${what}. Expected one of '${acceptManifests()}'`);
}

function bad(detail: string): Failure {
  return new Failure("META0013", `received a bad response from the SDK: ${detail}`);
}
