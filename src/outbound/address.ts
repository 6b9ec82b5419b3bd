import { Failure } from "../errors.ts";
import type { AdditionalHeaders } from "../model/endpoint_credentials.ts";
import type { Deployment } from "../model/schema.ts";
import type { Target } from "../model/target.ts";
import { printTrace, type Trace } from "../model/trace.ts";
import { header } from "../names.ts";
import type { DialRequest } from "../dial.ts";
import { invocationMediaType } from "../wire/manifest.ts";
import { encodePart } from "./percent.ts";

/** Appends a path to an endpoint's URL: one slash between them, a query string stays behind. */
export function joinPath(uri: string, path: string): string {
  const at = uri.indexOf("?");
  const base = at < 0 ? uri : uri.slice(0, at);
  const query = at < 0 ? "" : uri.slice(at);
  return `${base.endsWith("/") ? base.slice(0, -1) : base}/${path}${query}`;
}

/**
 * The headers whose values are stored, with names in lower case: HTTP clients need that, and so does
 * overriding one header by another. Others are added by `withCredentials`.
 */
export function storedHeaders(headers: AdditionalHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value] as const] : []
    ),
  );
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** Every byte but control characters; a tab is allowed (RFC 9110, section 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Throws `Failure` 400 unless headers can be sent with every request. An HTTP client that finds a
 * bad header while it sends may close the whole connection, and with it the attempts of others.
 */
export function checkHeaders(headers: AdditionalHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) throw Failure.plain(400, `invalid header name '${name}'`);
    if (typeof value === "string" && !VALUE.test(value)) {
      throw Failure.plain(400, `invalid value of header '${name}'`);
    }
    if (OF_THE_CONNECTION.has(name.toLowerCase())) {
      throw Failure.plain(400, `header '${name}' belongs to the connection and cannot be added`);
    }
  }
}

/** The part that all requests of one deployment in one protocol version share: computed once. */
interface Prepared {
  readonly mediaType: string;
  readonly version: DialRequest["version"];
  readonly idHeader: string;
  readonly keyHeader: string;
  readonly common: Readonly<Record<string, string>>;
  readonly own: Readonly<Record<string, string>>;
  readonly urls: Map<string, string>;
}

/** Where and how to send one attempt. */
export interface AttemptRequest {
  readonly dial: DialRequest;
  /** The content type that the response must have. */
  readonly mediaType: string;
}

/**
 * Makes the requests of attempts (docs/spec/service-protocol.md#requests). Caches by deployment,
 * because a deployment never changes.
 */
export class Addresses {
  readonly #options: { readonly clusterName: string; readonly connectTimeoutMs: number };
  readonly #prepared = new WeakMap<Deployment, Map<number, Prepared>>();

  constructor(options: { readonly clusterName: string; readonly connectTimeoutMs: number }) {
    this.#options = options;
  }

  request(
    deployment: Deployment,
    protocol: number,
    { id, target, trace }: {
      readonly id: string;
      readonly target: Target;
      readonly trace?: Trace | undefined;
    },
  ): AttemptRequest {
    const prepared = this.#prepare(deployment, protocol);
    const headers: Record<string, string> = { ...prepared.common, [prepared.idHeader]: id };
    if (target.key !== undefined) headers[prepared.keyHeader] = encodePart(target.key);
    if (trace) {
      headers["traceparent"] = printTrace(trace);
      if (trace.state !== undefined) headers["tracestate"] = trace.state;
    }
    Object.assign(headers, prepared.own);
    const path = `invoke/${target.service}/${target.handler}`;
    let url = prepared.urls.get(path);
    if (url === undefined) prepared.urls.set(path, url = joinPath(deployment.uri, path));
    const { version, mediaType } = prepared;
    const { connectTimeoutMs } = this.#options;
    return { mediaType, dial: { url, method: "POST", headers, version, connectTimeoutMs } };
  }

  #prepare(deployment: Deployment, protocol: number): Prepared {
    let versions = this.#prepared.get(deployment);
    if (!versions) this.#prepared.set(deployment, versions = new Map());
    let prepared = versions.get(protocol);
    if (!prepared) {
      versions.set(protocol, prepared = prepare(deployment, protocol, this.#options.clusterName));
    }
    return prepared;
  }
}

function prepare(deployment: Deployment, protocol: number, clusterName: string): Prepared {
  const { dialect, additionalHeaders, httpVersion } = deployment;
  const type = invocationMediaType(dialect, protocol);
  return {
    mediaType: type,
    version: httpVersion === "HTTP/2.0" ? "h2" : "h1",
    idHeader: header(dialect, "invocation-id"),
    keyHeader: header(dialect, "service-key"),
    common: {
      "content-type": type,
      accept: type,
      [header(dialect, "cluster-name")]: clusterName,
    },
    own: storedHeaders(additionalHeaders),
    urls: new Map(),
  };
}
