import { query } from "../../../data/client.ts";
import { abilities, server } from "../../../data/server.ts";
import { sql } from "../../../data/sql.ts";
import { stateOf, type StateRow } from "../../keyed/statements.ts";
import { type EventRow, eventsOf, type FullEntry, type Whole } from "../data.ts";
import type { EntryRow } from "../steps.ts";
import {
  FILE_BYTES_MAX,
  FILE_ENTRIES_MAX,
  FileError,
  type FileState,
  FORMAT,
  type InvocationFile,
  VERSION,
} from "./file.ts";

/** Entries of a journal that one statement reads. */
const PAGE_ENTRIES = 500;

/**
 * Reads everything of an invocation from the server, as the text of a file. `hasValues`: with inputs,
 * results and states. Throws `ApiError`, and `FileError` if it is more than a file may have.
 */
export async function readFile(row: Whole, hasValues: boolean): Promise<string> {
  const [invocation = row] = await query<Whole>(
    sql`SELECT * FROM sys_invocation WHERE id = ${row.id}`,
  );
  const file: InvocationFile = {
    format: FORMAT,
    version: VERSION,
    exported_at: new Date().toISOString(),
    server: server.value?.version ?? "",
    has_values: hasValues,
    invocation,
    journal: await journalOf(row.id, hasValues),
    events: await query<EventRow>(eventsOf(row.id)),
    state: await stateNow(invocation, hasValues),
  };
  const text = JSON.stringify(file, null, 1);
  if (new Blob([text]).size > FILE_BYTES_MAX) throw tooLarge();
  return text;
}

const tooLarge = () =>
  new FileError(`It has more than ${FILE_BYTES_MAX / 1024 ** 2} MiB: save it without values`);

async function journalOf(id: string, hasValues: boolean) {
  const json = hasValues ? sql`entry_lite_json, entry_json` : sql`entry_lite_json`;
  const entries: (EntryRow & FullEntry)[] = [];
  let bytes = 0;
  for (;;) {
    const page = await query<EntryRow & FullEntry>(
      sql`SELECT index, entry_type, name, appended_at, raw_length, ${json} FROM sys_journal
        WHERE id = ${id} AND index >= ${entries.length} ORDER BY index LIMIT ${PAGE_ENTRIES}`,
    );
    entries.push(...page);
    bytes += page.reduce((sum, { entry_json: text = "" }) => sum + text.length, 0);
    if (bytes > FILE_BYTES_MAX || entries.length > FILE_ENTRIES_MAX) throw tooLarge();
    if (page.length < PAGE_ENTRIES) return entries;
  }
}

/** The state of its object or workflow at this moment. */
async function stateNow(row: Whole & { readonly scope?: string }, hasValues: boolean) {
  const { target_service_ty: type, target_service_name: service, target_service_key: key } = row;
  if (type === "service" || key === undefined) return [];
  const scope = abilities().hasLimits ? row.scope : undefined;
  const rows = await query<StateRow>(stateOf({ service, key, scope }));
  return rows.map(({ key: name, value_length, value }): FileState => ({
    key: name,
    value_length,
    ...(hasValues && value !== undefined && { value }),
  }));
}
