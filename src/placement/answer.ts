import { type Code, errors } from "../error_codes.ts";
import { Failure, Untaken } from "../errors.ts";

/** What a partition in another process answers: a value, or why there is none. */
export interface Answer {
  readonly value?: unknown;
  readonly failure?: SpokenFailure;
}

/** A `Failure` on its way. */
export interface SpokenFailure {
  readonly status: number;
  readonly code: Code | null;
  readonly message: string;
  /** Whether the request was certainly not taken (`Untaken`). */
  readonly isUntaken?: boolean;
}

/** Puts a failure into words. */
export function spoken(failure: Failure): SpokenFailure {
  const { status, code, message } = failure;
  const words = { status, code, message };
  return failure instanceof Untaken ? { ...words, isUntaken: true } : words;
}

/** The reverse of `spoken`. */
export function failureOf({ status, code, message, isUntaken }: SpokenFailure): Failure {
  if (isUntaken) return new Untaken(message);
  if (code === null || !(code in errors)) return Failure.plain(status, message);
  const detail = message.startsWith(`[${code}] `) ? message.slice(code.length + 3) : message;
  return new Failure(code, detail, { status });
}
