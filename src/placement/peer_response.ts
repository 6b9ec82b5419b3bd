import { type Code, errors } from "../error_codes.ts";
import { Failure, Untaken } from "../errors.ts";

/** What a partition in another process answers: a value, or why there is none. */
export interface PeerResponse {
  readonly value?: unknown;
  readonly failure?: EncodedFailure;
}

/** A `Failure` on its way. */
export interface EncodedFailure {
  readonly status: number;
  readonly code: Code | null;
  readonly message: string;
  /** Whether the request was certainly not taken (`Untaken`). */
  readonly isUntaken?: boolean;
}

/** Puts a failure into words. */
export function encodeFailure(failure: Failure): EncodedFailure {
  const { status, code, message } = failure;
  const words = { status, code, message };
  return failure instanceof Untaken ? { ...words, isUntaken: true } : words;
}

/** The reverse of `encodeFailure`. */
export function decodeFailure({ status, code, message, isUntaken }: EncodedFailure): Failure {
  if (isUntaken) return new Untaken(message);
  if (code === null || !(code in errors)) return Failure.plain(status, message);
  const detail = message.startsWith(`[${code}] `) ? message.slice(code.length + 3) : message;
  return new Failure(code, detail, { status });
}
