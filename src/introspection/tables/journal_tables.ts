import type { ColumnType } from "../column_type.ts";
import { ALIAS, OWN } from "../../names.ts";
import { entryTypeNames } from "../journal/entry_name.ts";
import { failedCommand } from "./command_name.ts";
import { partitionKeyOf, quoteTexts, type Table, type TableColumn } from "./table.ts";

/** Columns of the table that the statement's entries are read into: see `journal/entry_rows.ts`. */
export const ENTRY_COLUMNS = [
  "id",
  "idx",
  "entry_type",
  "name",
  "appended_at",
  "raw",
  "raw_length",
  "entry_json",
  "entry_lite_json",
] as const;

export const JOURNAL = "sys_journal";
/** Where its rows are: a table that is filled for each statement. */
export const ENTRIES = "entry as t";

const column = (name: string, type: ColumnType, sql: string): TableColumn => ({ name, type, sql });

const journal: Table = {
  name: JOURNAL,
  kind: "BASE TABLE",
  from: ENTRIES,
  ids: "id",
  seek: (pushed) => {
    const ids = pushed.get("id");
    return ids && `t.id in ${quoteTexts(ids)}`;
  },
  columns: [
    column("partition_key", "key", partitionKeyOf("t.id")),
    { name: "id", type: "str", sql: "t.id", notNull: true },
    { name: "index", type: "u32", sql: "t.idx", notNull: true },
    { ...column("entry_type", "str", "t.entry_type"), values: entryTypeNames },
    column("name", "str", "t.name"),
    // Null for every journal of protocol version 5 and later (docs/spec/queries.md#tables).
    column("completed", "bool", "null"),
    column("invoked_id", "str", "null"),
    column("invoked_target", "str", "null"),
    column("sleep_wakeup_at", "ts", "null"),
    column("promise_name", "str", "null"),
    { ...column("raw", "bin", "t.raw"), length: "raw_length" },
    column("raw_length", "u64", "t.raw_length"),
    column("version", "u32", "2"),
    column("entry_json", "str", "t.entry_json"),
    column("entry_lite_json", "str", "t.entry_lite_json"),
    column("appended_at", "ts", "t.appended_at"),
  ],
};

/** It is not known which spelling a reader of an event expects, so it has both. */
const DOC_CODES = [OWN, ALIAS].map((name) => `${name}_doc_error_code`);

const events: Table = {
  name: "sys_journal_events",
  kind: "BASE TABLE",
  from: "event as t",
  keys: ["t.id", "t.seq"],
  ids: "id",
  seek: (pushed) => {
    const ids = pushed.get("id");
    return ids && `t.id in ${quoteTexts(ids)}`;
  },
  columns: [
    column("partition_key", "key", partitionKeyOf("t.id")),
    { name: "id", type: "str", sql: "t.id", notNull: true },
    column("after_journal_entry_index", "u32", "(t.body ->> '$.after') - 1"),
    column("appended_at", "ts", "t.at"),
    {
      name: "event_type",
      type: "str",
      sql: "case t.kind when 'paused' then 'Paused' else 'TransientError' end",
      values: ["TransientError", "Paused"],
    },
    column("event_json", "str", eventJson()),
    column("failed_attempts", "u64", "coalesce(t.body ->> '$.failed', 0)"),
  ],
};

/** The failure, by itself or within a pause, without the parts it does not have. */
function eventJson(): string {
  return `case t.kind when 'paused' then case when t.body ->> '$.failure' is null
    then json_object('ty', 'Paused')
    else json_object('ty', 'Paused', 'last_failure', json(${failureJson("json_object(")})) end
    else ${failureJson("json_object('ty', 'TransientError', ")} end`;
}

/** `begin`: the function that makes an object, and the members that come first. */
function failureJson(begin: string): string {
  const of = (path: string) => `t.body ->> '$.failure.${path}'`;
  return `json_patch('{}', ${begin}
    'error_code', ${of("status")}, 'error_message', ${of("message")},
    'error_stacktrace', ${of("stacktrace")},
    ${DOC_CODES.map((name) => `'${name}', ${of("code")}`).join(", ")},
    'related_command_index', ${of("related.index")},
    'related_command_name', ${of("related.name")},
    'related_command_type', ${failedCommand("failure")}))`;
}

/** Journals and what happened beside them (docs/spec/queries.md#tables). */
export const journalTables: readonly Table[] = [journal, events];
