import type { EventRow, FullEntry, Whole } from "../data.ts";
import type { EntryRow } from "../steps.ts";

/** What a file of an invocation begins with. The version changes when a reader must know. */
export const [FORMAT, VERSION] = ["perdure-invocation", 1] as const;
/** Bytes of a file, in UTF-8. Larger ones are neither saved nor opened. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Entries of a journal in a file. */
export const FILE_ENTRIES_MAX = 200_000;

/** An entry of the state of the object, as it was when the file was saved. */
export interface FileState {
  readonly key: string;
  readonly value_length: number | string;
  /** Hexadecimal. Absent: left out, or too large. */
  readonly value?: string;
}

/** One invocation, as another installation can open it. */
export interface InvocationFile {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly exported_at: string;
  /** What `GET /version` named. */
  readonly server: string;
  /** Whether inputs, results and states are in it. */
  readonly has_values: boolean;
  readonly invocation: Whole;
  readonly journal: readonly (EntryRow & FullEntry)[];
  readonly events: readonly EventRow[];
  readonly state: readonly FileState[];
}

/** A file that cannot be opened. The message says what is wrong, and where. */
export class FileError extends Error {}

function check(isRight: boolean, wrong: string): void {
  if (!isRight) throw new FileError(`Cannot open the file: ${wrong}`);
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const isText = (value: unknown) => typeof value === "string";
const isTime = (value: unknown) => isText(value) && !Number.isNaN(Date.parse(String(value)));
const isInt = (value: unknown) => /^\d{1,20}$/.test(String(value));

/**
 * Reads a file from any source. Everything that pages rely on is checked: the file may be damaged, or
 * made by somebody who means harm. Throws `FileError`.
 */
export function parseFile(text: string): InvocationFile {
  const file = parsed(text);
  check(isMembers(file) && file["format"] === FORMAT, `it is no ${FORMAT}`);
  const members = file as Members;
  const { version } = members;
  check(Number.isInteger(version) && Number(version) >= 1, "its version is no number");
  check(Number(version) <= VERSION, `its version is ${version}, and this page knows ${VERSION}`);
  check(isTime(members["exported_at"]), "exported_at is no time");
  check(isText(members["server"]), "server is no text");
  check(typeof members["has_values"] === "boolean", "has_values is no boolean");
  checkInvocation(members["invocation"]);
  listOf(members, "journal").forEach(checkEntry);
  listOf(members, "events").forEach(checkEvent);
  listOf(members, "state").forEach(checkState);
  return members as unknown as InvocationFile;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FileError("Cannot open the file: it is no JSON");
  }
}

function listOf(file: Members, name: string): readonly unknown[] {
  const list = file[name];
  check(Array.isArray(list), `${name} is no list`);
  const { length } = list as unknown[];
  check(
    length <= FILE_ENTRIES_MAX,
    `${name} has ${length} entries; ${FILE_ENTRIES_MAX} are the most`,
  );
  return list as unknown[];
}

const KINDS = ["service", "virtual_object", "workflow"];
/** Columns of an invocation that pages show, if they are there. */
const TEXTS = [
  ...["target_service_key", "completion_result", "completion_failure", "last_failure"],
  ...["invoked_by_id", "invoked_by_target", "restarted_from", "pinned_deployment_id"],
  ...["last_attempt_server", "idempotency_key", "trace_id", "waiting_reason"],
];
const TIMES = [
  ...["modified_at", "running_at", "completed_at", "scheduled_start_at", "next_retry_at"],
  "last_start_at",
];

function checkInvocation(row: unknown): void {
  check(isMembers(row), "invocation is no object");
  const members = row as Members;
  check(/^inv_1[0-9A-Za-z]{1,100}$/.test(String(members["id"])), "invocation.id is no id");
  for (const name of ["target", "target_service_name", "target_handler_name", "status"]) {
    check(isText(members[name]), `invocation.${name} is no text`);
  }
  check(
    KINDS.includes(String(members["target_service_ty"])),
    "invocation.target_service_ty is unknown",
  );
  check(isTime(members["created_at"]), "invocation.created_at is no time");
  for (const name of TEXTS) {
    check((members[name] ?? "") === "" || isText(members[name]), `invocation.${name} is no text`);
  }
  for (const name of TIMES) {
    check(members[name] === undefined || isTime(members[name]), `invocation.${name} is no time`);
  }
}

function checkEntry(entry: unknown, at: number): void {
  check(isMembers(entry), `journal[${at}] is no object`);
  const { index, entry_type: type, appended_at: time, name } = entry as Members;
  check(index === at, `journal[${at}].index is not ${at}`);
  check(isText(type), `journal[${at}].entry_type is no text`);
  check(name === undefined || isText(name), `journal[${at}].name is no text`);
  check(time === undefined || isTime(time), `journal[${at}].appended_at is no time`);
  for (const column of ["entry_lite_json", "entry_json"]) {
    const json = (entry as Members)[column];
    check(json === undefined || isEntry(json), `journal[${at}].${column} is no entry`);
  }
}

/** Whether it is the JSON of a command or a notification, whose members are at least objects. */
function isEntry(json: unknown): boolean {
  const { Command: command, Notification: notification } = objectOf(json) ?? {};
  if (notification !== undefined) return isMembers(notification);
  return isMembers(command) && isMembers(Object.values(command)[0]);
}

const isObject = (json: unknown) => objectOf(json) !== undefined;

/** The object that a text is the JSON of. Undefined: it is something else. */
function objectOf(json: unknown): Members | undefined {
  try {
    const value: unknown = JSON.parse(isText(json) ? String(json) : "");
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkEvent(event: unknown, at: number): void {
  check(isMembers(event), `events[${at}] is no object`);
  const row = event as Members;
  check(
    isInt(row["after_journal_entry_index"]),
    `events[${at}].after_journal_entry_index is no number`,
  );
  check(isTime(row["appended_at"]), `events[${at}].appended_at is no time`);
  check(isText(row["event_type"]), `events[${at}].event_type is no text`);
  check(isObject(row["event_json"]), `events[${at}].event_json is no object`);
}

function checkState(entry: unknown, at: number): void {
  check(isMembers(entry), `state[${at}] is no object`);
  const { key, value_length: length, value } = entry as Members;
  check(isText(key) && isInt(length), `state[${at}] has no key or no length`);
  check(
    value === undefined || /^(?:[0-9a-f]{2})*$/i.test(String(value)),
    `state[${at}].value is not hexadecimal`,
  );
}
