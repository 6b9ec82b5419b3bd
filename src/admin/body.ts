import { concatBytes } from "../bytes.ts";
import { type Struct, validate } from "superstruct";
import { Failure } from "../errors.ts";
import { inSlices } from "../slices.ts";
import { wrongShape } from "./refusals.ts";
import type { Call } from "./route.ts";
import type { UnknownNames } from "./unknown_names.ts";

/**
 * The body of a request, which is JSON that `struct` accepts; fields that it does not name are
 * recorded as unknown. Throws a `Failure`: as `readJson` does, and 422 with the path to the value
 * of the wrong shape (docs/spec/admin.md#requests).
 */
export async function readBody<T, S>(
  { request, bodyBytesMax, unknown }: Pick<Call, "request" | "bodyBytesMax" | "unknown">,
  struct: Struct<T, S>,
): Promise<T> {
  const [error, value] = validate(await readJson(request, bodyBytesMax), struct);
  if (error) throw wrongShape(error.path.join("."), error.failures()[0]?.message ?? error.message);
  checkNames(value, struct as Struct<unknown, unknown>, unknown);
  return value;
}

/**
 * As `readBody`, for a list of what `item` accepts. It may be long, so other events are handled while it
 * is checked. `soon`: as in `Clock`.
 */
export async function readItems<T, S>(
  { request, bodyBytesMax, unknown }: Pick<Call, "request" | "bodyBytesMax" | "unknown">,
  item: Struct<T, S>,
  soon: (call: () => void) => void,
): Promise<T[]> {
  const values = await readJson(request, bodyBytesMax);
  if (!Array.isArray(values)) throw wrongShape("", "expected an array");
  return await inSlices(checkItems(values, item, unknown), soon);
}

function* checkItems<T, S>(
  values: readonly unknown[],
  item: Struct<T, S>,
  unknown: UnknownNames,
): Generator<void, T[]> {
  const items: T[] = [];
  for (const [index, one] of values.entries()) {
    const [error, value] = validate(one, item);
    if (error) {
      const path = [index, ...error.path].join(".");
      throw wrongShape(path, error.failures()[0]?.message ?? error.message);
    }
    checkNames(value, item as Struct<unknown, unknown>, unknown);
    items.push(value);
    yield;
  }
  return items;
}

/** Records the fields, at any depth, that a struct does not name. */
function checkNames(
  value: unknown,
  { type, schema }: Pick<Struct<unknown, unknown>, "type" | "schema">,
  unknown: UnknownNames,
): void {
  if (typeof value !== "object" || value === null || type !== "type") return;
  const structs = schema as Readonly<Record<string, Struct<unknown>>>;
  unknown.check("field", Object.keys(value), Object.keys(structs));
  for (const [name, struct] of Object.entries(structs)) {
    checkNames(Reflect.get(value, name), struct, unknown);
  }
}

/**
 * The JSON value in a request's body. Throws a `Failure`: 415 unless the content type is JSON, 413
 * beyond `bytesMax`, 400 when it is cut short or not JSON. Of repeated keys the last wins.
 */
export async function readJson(request: Request, bytesMax: number): Promise<unknown> {
  if (!isJson(request.headers.get("content-type") ?? "")) {
    throw Failure.plain(415, "Expected request with `Content-Type: application/json`");
  }
  const text = decode(await readBytes(request, bytesMax));
  if (text === "") throw notJson("the body is empty");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause instanceof Error ? cause.message : "unknown syntax error", cause);
  }
}

/** `application/json` or `application/<anything>+json`, whatever the parameters. */
function isJson(contentType: string): boolean {
  return /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i.test(contentType.trim());
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notJson("the body is not UTF-8", cause);
  }
}

function notJson(what: string, cause?: unknown): Failure {
  return Failure.plain(400, `Cannot parse the request body as JSON: ${what}`, { cause });
}

/** The bytes of a request's body. Throws a `Failure`: 413 beyond `bytesMax`, 400 when cut short. */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  // The declared length only saves reading what is refused anyway; the count below is the guard.
  if (Number(request.headers.get("content-length")) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let chunk = await next(reader); chunk; chunk = await next(reader)) {
    size += chunk.length;
    if (size > bytesMax) {
      reader?.cancel().catch(() => {});
      throw tooLarge(bytesMax);
    }
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

async function next(reader?: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return (await reader?.read())?.value;
  } catch (cause) {
    throw Failure.plain(400, "Cannot read the request body: it ended early", { cause });
  }
}

function tooLarge(bytesMax: number): Failure {
  return Failure.plain(
    413,
    `The request body is larger than ${bytesMax} bytes (setting "admin.request-size-limit")`,
  );
}
