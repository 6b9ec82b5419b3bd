import type { Entry, Result } from "../model/journal.ts";
import type { Rows, Table } from "../model/rows.ts";

/** Rough cost of a group and of a row in memory, beside its bytes. */
export const GROUP_BYTES = 200;
const ROW_BYTES = 150;
const INVOCATION_BYTES = 900;
const LISTENER_BYTES = 150;

/** An estimate of what a row holds on to. */
export function sizeOf(row: Rows[Table] | null | undefined): number {
  if (!row) return 0;
  if ("entry" in row) return ROW_BYTES + entryBytes(row.entry);
  if ("value" in row) return ROW_BYTES + row.value.length;
  if ("listeners" in row) return ROW_BYTES + promiseBytes(row);
  if ("after" in row) return ROW_BYTES + failureBytes(row);
  if ("target" in row) return INVOCATION_BYTES + (row.output?.length ?? 0);
  return ROW_BYTES;
}

function entryBytes(entry: Entry): number {
  switch (entry.kind) {
    case "input":
      return entry.value.length + entry.headers.length * 60;
    case "command":
      return entry.bytes.length;
    case "notification":
      return entry.result.kind === "value" ? valueBytes(entry.result) : 0;
  }
}

function failureBytes({ failure }: Rows["event"]): number {
  return failure ? failure.message.length + (failure.stacktrace?.length ?? 0) : 0;
}

function promiseBytes({ result, listeners }: Rows["promise"]): number {
  return LISTENER_BYTES * listeners.length + (result?.kind === "value" ? valueBytes(result) : 0);
}

function valueBytes(result: Result & { kind: "value" }): number {
  return result.value.length;
}
