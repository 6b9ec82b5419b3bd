import { Failure } from "../errors.ts";

/**
 * The statement is not SQL, not SQL that may be asked, or does not fit the tables: 400. The
 * reference answers 500 to the last of these (docs/spec/queries.md#statements), which blames the
 * server for a misspelled name.
 */
export function refused(message: string, options?: ErrorOptions): Failure {
  return Failure.plain(400, message, options);
}

/** A construct that is SQL and that we do not translate: 400. `what` names it. */
export function unsupported(what: string): Failure {
  return refused(`Cannot run the query: ${what} is not supported here`);
}

/** The query reached a limit, or the database fails: 500 (docs/spec/queries.md#statements). */
export function failed(message: string, options?: ErrorOptions): Failure {
  return Failure.plain(500, message, options);
}

/** A result that is too long: 500. */
export function tooManyRows(rowsMax: number): Failure {
  return failed(
    `Cannot run the query: its result has more than ${rowsMax} rows; add a condition or a LIMIT, or ` +
      `raise admin.query-engine.rows`,
  );
}

/** More than may be kept meanwhile: 500. `what`: the result, or what is read for it. */
export function tooLarge(what: string, bytesMax: number): Failure {
  return failed(
    `Cannot run the query: ${what} is larger than ${bytesMax} bytes; add conditions, or raise ` +
      `admin.query-engine.result-size`,
  );
}

/** It took too long: 500. */
export function tooSlow(timeMs: number): Failure {
  return failed(
    `Cannot run the query: it took more than ${timeMs} ms; add conditions, or raise ` +
      `admin.query-engine.timeout`,
  );
}

/** It took too much memory: 500. */
export function tooMuchMemory(memoryBytesMax: number): Failure {
  return failed(
    `Cannot run the query: it took more than ${memoryBytesMax} bytes of memory; add conditions, or ` +
      `raise admin.query-engine.memory-size`,
  );
}

const CUT = 100;

/** Input of a stranger, short enough for a message. */
export function cut(text: string): string {
  return text.length > CUT ? `${text.slice(0, CUT)}…` : text;
}
