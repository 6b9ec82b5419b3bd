import { Failure } from "../errors.ts";

/** The statement is not SQL, or not SQL that may be asked: 400 (http-api §3.9). */
export function refused(message: string, options?: ErrorOptions): Failure {
  return Failure.plain(400, message, options);
}

/** A construct that is SQL and that we do not translate: 400. `what` names it. */
export function unsupported(what: string): Failure {
  return refused(`Cannot run the query: ${what} is not supported here`);
}

/** The statement does not fit what there is, or ran into a limit: 500 (http-api §3.9). */
export function failed(message: string, options?: ErrorOptions): Failure {
  return Failure.plain(500, message, options);
}

const CUT = 100;

/** Input of a stranger, short enough for a message. */
export function cut(text: string): string {
  return text.length > CUT ? `${text.slice(0, CUT)}…` : text;
}
