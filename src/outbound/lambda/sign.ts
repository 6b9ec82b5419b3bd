import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { encodePart } from "../percent.ts";

/** Credentials that sign calls to a cloud. Never logged, never part of a message. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface Unsigned {
  readonly method: "GET" | "POST";
  readonly url: string;
  /**
   * Lower-case names. All of them are signed, and so is `host`, which the client adds by itself.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SignOptions {
  readonly credentials: Credentials;
  readonly region: string;
  /** `lambda` or `sts`. */
  readonly service: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const encoder = new TextEncoder();

/**
 * The headers of a request, signed by version 4 of the cloud's signing process
 * (docs/spec/service-protocol.md#functions).
 */
export function signedHeaders(
  { method, url, headers, body }: Unsigned,
  { credentials, region, service, now }: SignOptions,
): Record<string, string> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = `${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const day = time.slice(0, 8);
  const sent: Record<string, string> = {
    ...headers,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const { host, pathname, searchParams } = new URL(url);
  const names = Object.keys({ ...sent, host }).sort();
  const canonical = [
    method,
    encodePath(pathname),
    canonicalQuery(searchParams),
    ...names.map((name) => `${name}:${(name === "host" ? host : sent[name] ?? "").trim()}`),
    "",
    names.join(";"),
    bytesToHex(sha256(body)),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, bytesToHex(sha256(encoder.encode(canonical)))].join("\n");
  let key = encoder.encode(`AWS4${secretAccessKey}`);
  for (const part of [day, region, service, "aws4_request", text]) {
    key = hmac(sha256, key, encoder.encode(part)) as Uint8Array<ArrayBuffer>;
  }
  sent["authorization"] = `${ALGORITHM} Credential=${accessKeyId}/${scope}, ` +
    `SignedHeaders=${names.join(";")}, Signature=${bytesToHex(key)}`;
  return sent;
}

/** The path is percent-encoded already; the signature needs it encoded a second time. */
function encodePath(path: string): string {
  return path.split("/").map(encodePart).join("/");
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query].map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).sort()
    .join("&");
}
