import { type Code, errors } from "../error_codes.ts";
import { Failure, Untaken } from "../errors.ts";

/** The response of another process: a value or a failure. */
export interface PeerResponse {
  readonly value?: unknown;
  readonly failure?: EncodedFailure;
}

/** A `Failure` as it is sent. */
export interface EncodedFailure {
  readonly status: number;
  readonly code: Code | null;
  readonly message: string;
  /** Whether the request certainly failed (`Untaken`). */
  readonly isUntaken?: boolean;
}

/** Encodes a failure, without its cause. */
export function encodeFailure(failure: Failure): EncodedFailure {
  const { status, code, message } = failure;
  const encoded = { status, code, message };
  return failure instanceof Untaken ? { ...encoded, isUntaken: true } : encoded;
}

/** The reverse of `encodeFailure`. */
export function decodeFailure({ status, code, message, isUntaken }: EncodedFailure): Failure {
  if (isUntaken) return new Untaken(message);
  if (code === null || !(code in errors)) return Failure.plain(status, message);
  const detail = message.startsWith(`[${code}] `) ? message.slice(code.length + 3) : message;
  return new Failure(code, detail, { status });
}
