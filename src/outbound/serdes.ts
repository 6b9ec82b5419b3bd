import { Failure } from "../errors.ts";
import type { Deployment } from "../model/schema.ts";
import { header } from "../names.ts";
import type { DialHead, DialRequest } from "../dial.ts";
import { joinPath, storedHeaders } from "./address.ts";
import { collect } from "../collect.ts";
import { dialOf, type DiscoverOptions } from "./discover.ts";
import { signedDial } from "./identity/signed_dial.ts";
import { encodePart } from "./percent.ts";
import { printStatus } from "./response.ts";
import { echo, timedOut, unreachable } from "./unreachable.ts";

/** Bytes for a serde of an endpoint: `decode` makes JSON of stored bytes, `encode` the reverse. */
export interface SerdeCall {
  readonly deployment: Deployment;
  readonly service: string;
  readonly operation: "decode" | "encode";
  /** The endpoint's name for it: `greet/input`. */
  readonly serde: string;
  readonly body: Uint8Array;
}

/**
 * Content types of the request and response of each operation
 * (docs/spec/service-protocol.md#serdes).
 */
const TYPES = {
  decode: { "content-type": "application/octet-stream", accept: "application/json" },
  encode: { "content-type": "application/json", accept: "*/*" },
} as const;

/**
 * Has an endpoint apply one of its serdes (docs/spec/service-protocol.md#serdes), once, without a
 * retry. Resolves with the bytes of its response. Rejects with a `Failure`: META0003 or META0014
 * when no response arrives in time; without code and status 500, as in the reference, when the
 * response is not a success or is too large.
 */
export async function applySerde(call: SerdeCall, options: DiscoverOptions): Promise<Uint8Array> {
  const { deployment, body } = call;
  const path = pathOf(call);
  const plain = dialOf(deployment, options);
  const { signer } = options;
  const signing = { claims: { audience: `/${path}` }, dialects: [deployment.dialect] };
  const dial = signer ? signedDial(plain, { signer, ...signing }) : plain;
  const collected = await collect(requestOf(call, path, options), { ...options, dial, body });
  const { uri } = deployment;
  if (collected.kind === "failed") throw unreachable(uri, collected.failure);
  if (collected.kind === "timeout") throw timedOut(uri, options.timeoutMs);
  const { head, body: answer, cut } = collected;
  if (head.status < 200 || head.status > 299) throw refused(call, head, answer);
  if (!cut) return answer;
  const limit = `${options.bodyBytesMax} bytes`;
  throw failed(call, `the endpoint answered more than the limit of ${limit}`);
}

/** The slashes of a serde's name separate path segments; everything else in it is encoded. */
function pathOf({ service, operation, serde }: SerdeCall): string {
  return `serdes/${service}/${operation}/${serde.split("/").map(encodePart).join("/")}`;
}

function requestOf(
  { deployment, operation }: SerdeCall,
  path: string,
  { clusterName, connectTimeoutMs }: DiscoverOptions,
): DialRequest {
  const { uri, dialect, httpVersion, additionalHeaders } = deployment;
  return {
    url: joinPath(uri, path),
    method: "POST",
    headers: {
      [header(dialect, "cluster-name")]: clusterName,
      ...storedHeaders(additionalHeaders),
      ...TYPES[operation],
      [header(dialect, "serdes-protocol")]: "v1",
    },
    version: httpVersion === "HTTP/2.0" ? "h2" : "h1",
    connectTimeoutMs,
  };
}

function refused(call: SerdeCall, { status }: DialHead, body: Uint8Array): Failure {
  const hint = status === 404
    ? ". Its SDK may not know serdes, or the service has no serde of this name with a preview"
    : "";
  return failed(call, `got status code '${printStatus(status)}'${hint}${echo(body)}`);
}

function failed({ service, operation, serde }: SerdeCall, why: string): Failure {
  return Failure.plain(
    500,
    `Cannot ${operation} with the serde '${serde}' of '${service}': ${why}`,
  );
}
