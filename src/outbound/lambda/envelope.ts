import type { DialRequest } from "../../dial.ts";

/**
 * A function's payload: an HTTP request and its response as JSON
 * (docs/spec/service-protocol.md#functions).
 */
export interface FunctionResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** The payload is not a response: the function failed, or it is not an SDK endpoint. */
export class FunctionError extends Error {
  override name = "FunctionError";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const MESSAGE_MAX = 1000;

/** The event a function is called with. `path` without the ARN: `/discover`, `/invoke/Svc/run`. */
export function printEvent(
  { method, headers }: Pick<DialRequest, "method" | "headers">,
  { path, body }: { readonly path: string; readonly body: Uint8Array },
): Uint8Array {
  return encoder.encode(JSON.stringify({
    path,
    httpMethod: method,
    headers,
    body: printBytes(body),
    isBase64Encoded: true,
  }));
}

/**
 * Reads the payload that a function returned. `isError`: whether the function service says that the
 * function failed. Throws `FunctionError`.
 */
export function parseResponse(payload: Uint8Array, isError: boolean): FunctionResponse {
  const value = parseJson(payload);
  if (isError) throw new FunctionError(`the function failed: ${explain(value)}`);
  const { statusCode, headers, body, isBase64Encoded } = value;
  if (typeof statusCode !== "number" || !isOptionalText(body) || !isOptionalRecord(headers)) {
    throw new FunctionError(
      "the function answered something else than a response: is it an SDK endpoint?",
    );
  }
  const pairs = Object.entries(headers ?? {}).map(([name, text]) =>
    [name.toLowerCase(), String(text)] as const
  );
  const text = body ?? "";
  return {
    status: statusCode,
    headers: new Map(pairs),
    body: isBase64Encoded === true ? parseBytes(text) : encoder.encode(text),
  };
}

function isOptionalText(value: unknown): value is string | null | undefined {
  return value == null || typeof value === "string";
}

function isOptionalRecord(
  value: unknown,
): value is Readonly<Record<string, unknown>> | null | undefined {
  if (value == null) return true;
  if (typeof value !== "object") return false;
  return Object.values(value).every((one) => ["string", "number", "boolean"].includes(typeof one));
}

/**
 * An object of any shape. A payload that is not JSON, or not an object, is read as an object
 * without fields.
 */
function parseJson(payload: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(decoder.decode(payload));
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

/** `errorType: errorMessage`, shortened. */
function explain({ errorType, errorMessage }: Readonly<Record<string, unknown>>): string {
  const parts = [errorType, errorMessage].filter((one) => typeof one === "string");
  return parts.length === 0 ? "it does not say why" : parts.join(": ").slice(0, MESSAGE_MAX);
}

/** Bytes per call of `String.fromCharCode`, whose number of arguments is limited. */
const PIECE = 8192;

/** Base 64 with padding. */
function printBytes(bytes: Uint8Array): string {
  const letters: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    letters.push(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return btoa(letters.join(""));
}

function parseBytes(text: string): Uint8Array {
  let letters: string;
  try {
    letters = atob(text);
  } catch {
    throw new FunctionError("the function answered a body that is not base 64");
  }
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
