import { Failure } from "../errors.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { BodyOptions, RequestReader } from "./request_reader.ts";

const EMPTY = new Uint8Array(0);

/**
 * The request's body. Throws `Failure` 413 when it is longer than the limit: at once when its
 * length was declared, otherwise as soon as too much has come; and 500 when the caller's
 * connection broke (docs/spec/ingress.md#errors: one shape for both).
 */
export function readBody(
  { reader, bodyBytesMax: bytesMax }: Setup,
  { request, head }: Inbound,
): Uint8Array | Promise<Uint8Array> {
  const { contentLength: length } = head;
  if (length === 0) return EMPTY;
  if (length !== undefined && length > bytesMax) throw tooLarge("length limit exceeded", bytesMax);
  return readWhole(reader, request, { length, bytesMax });
}

async function readWhole(
  reader: RequestReader,
  request: Request,
  limits: BodyOptions,
): Promise<Uint8Array> {
  let bytes;
  try {
    bytes = await reader.body(request, limits);
  } catch (cause) {
    throw Failure.plain(500, "cannot read body: the request was cut short", { cause });
  }
  if (bytes === undefined) throw tooLarge("cannot read body: LengthLimitError", limits.bytesMax);
  return bytes;
}

function tooLarge(what: string, bytesMax: number): Failure {
  return Failure.plain(
    413,
    `${what}: a body has at most ${bytesMax} bytes (setting "ingress.request-size-limit")`,
  );
}
