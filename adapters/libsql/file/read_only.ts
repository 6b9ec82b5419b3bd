import { fileURLToPath } from "node:url";
import { Failure } from "../../../src/errors.ts";
import type { SqlClient } from "../../../src/ports.ts";
import { named, SqlError } from "../sql_error.ts";
import { Connection } from "./connection.ts";

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a database file to read it, in this thread: nothing in it changes, not even when the last
 * connection is closed, so that damage that is found can be examined afterwards. Writes are rejected.
 * `databaseKey`: of `FolderKey`, where it is encrypted. Rejects with `Failure` as `fileFailure` says.
 */
export function openReadOnly(url: string, databaseKey?: string): SqlClient {
  const file = fileURLToPath(url);
  const options = { isReadOnly: true, databaseKey };
  let connection: Connection | undefined;
  return {
    batch: (_, statements) =>
      inFile(file, () =>
        named(() => {
          const opened = connection ??= new Connection(url, BUSY_TIMEOUT_MS, [], options);
          return statements.map((statement) => opened.query(statement));
        })),
    isRefused: () => false,
    close: () => Promise.resolve(connection?.close()),
  };
}

/** Runs `act`. Rejects with `Failure` in place of `SqlError`: it names the file and what to do. */
export async function inFile<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw cause instanceof SqlError ? fileFailure(file, cause) : cause;
  }
}

/** `Failure` RT0028 where the content is damaged, without code where the file cannot be used. */
export function fileFailure(file: string, cause: SqlError): Failure {
  const { code, message } = cause;
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    const other = code.startsWith("SQLITE_NOTADB") ? ", or it has another key" : "";
    return new Failure("RT0028", `Cannot read "${file}": ${message}${other}`, { cause });
  }
  const isForbidden = /^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code) ||
    message.startsWith("ConnectionFailed");
  const why = isForbidden
    ? `it cannot be opened for writing; ${WRITABLE}`
    : `${message}; see whether its disk is full or failing`;
  return Failure.plain(500, `Cannot use "${file}": ${why}`, { cause });
}

/** What to do about a file or folder that cannot be written. */
export const WRITABLE =
  `let the user of this process write to it and to its folder, or choose another "base-dir"`;
