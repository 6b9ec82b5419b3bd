import { useEffect, useState } from "preact/hooks";
import { query } from "../../data/client.ts";
import { ask, EVERY_MS, type Use, type Used, useQuery, useResource } from "../../data/hooks.ts";
import { type Invocation, invocationColumns } from "../../data/invocations.ts";
import type { Int } from "../../data/json.ts";
import { resourceOf } from "../../data/resource.ts";
import { abilities } from "../../data/server.ts";
import { type Sql, sql } from "../../data/sql.ts";
import type { StatusColumns } from "../../widgets/status.tsx";
import { usedOf, useOpened } from "./opened.ts";
import { type EntryRow, type Step, stepsOf } from "./steps.ts";

/** A row of `sys_invocation`, as far as its page shows it. */
export interface Whole extends Invocation {
  readonly idempotency_key?: string;
  readonly invoked_by: string;
  readonly invoked_by_id?: string;
  readonly invoked_by_target?: string;
  readonly invoked_by_subscription_id?: string;
  readonly restarted_from?: string;
  readonly pinned_deployment_id?: string;
  readonly pinned_service_protocol_version?: Int;
  readonly trace_id?: string;
  readonly journal_size?: Int;
  readonly last_start_at?: string;
  readonly last_attempt_server?: string;
  readonly completion_retention?: string;
  readonly journal_retention?: string;
  /** Of servers with limits. */
  readonly scope?: string;
  /** How long it has waited, as durations of SQL. Of this server only. */
  readonly waited_for_lock?: string;
  readonly waited_for_concurrency?: string;
  readonly waited_for_rate?: string;
  readonly waited_for_pause?: string;
  /** How often it was suspended. Of this server only. */
  readonly num_suspensions?: Int;
  /** How many attempts have failed in all. Of this server only. */
  readonly failed_attempts?: Int;
}

const MORE = [
  ...["idempotency_key", "invoked_by", "invoked_by_id", "invoked_by_target"],
  ...["invoked_by_subscription_id", "restarted_from", "pinned_deployment_id"],
  ...["pinned_service_protocol_version", "trace_id", "journal_size", "last_start_at"],
  ...["last_attempt_server", "completion_retention", "journal_retention"],
];

const WAITED = [
  ...["waited_for_lock", "waited_for_concurrency", "waited_for_rate", "waited_for_pause"],
  "failed_attempts",
];

function invocationOf(id: string): Sql {
  const { hasLimits, hasWaitingColumns } = abilities();
  const more = [...MORE, ...hasLimits ? ["scope"] : [], ...hasWaitingColumns ? WAITED : []];
  const suspensions = hasWaitingColumns
    ? sql`, (SELECT num_suspensions FROM sys_vqueue_entry_status WHERE entry_id = ${id})
      AS num_suspensions`
    : sql``;
  const columns = sql`${invocationColumns(more)}${suspensions}`;
  return sql`SELECT ${columns} FROM sys_invocation WHERE id = ${id}`;
}

/** Asks for an invocation, and for its journal if it is shown first. */
export function askInvocation(id: string, hasJournal: boolean): void {
  ask<Whole>(invocationOf(id));
  if (hasJournal) void resourceOf(journalKey(id), journalOf(id)).refresh();
}

/** Where others decide when it goes on: the lock of its object, a limit. */
const OF_OTHERS = ["pending", "ready"];

/** The invocation itself. `data` is an empty list when there is none of that id. */
export function useInvocation(id: string) {
  const statement = invocationOf(id);
  const [use, follow] = useState<Use>({ everyMs: EVERY_MS.invocation });
  const used = useQuery<Whole>(statement, use);
  const status = used.data?.[0]?.status;
  useEffect(() =>
    follow({
      // One that has ended only changes when somebody restarts or purges it.
      everyMs: status === "completed" ? EVERY_MS.overview : EVERY_MS.invocation,
      about: status === undefined || OF_OTHERS.includes(status) ? undefined : aboutOf(id),
    }), [status]);
  return used;
}

const aboutOf = (id: string) => ({ invocations: [id] });

/** Something that went wrong or stopped it: a row of `sys_journal_events`. */
export interface EventRow {
  readonly after_journal_entry_index: Int;
  readonly appended_at: string;
  readonly event_type: string;
  readonly event_json: string;
  /** How many attempts had failed by then, this one included. Of this server only. */
  readonly failed_attempts?: Int;
}

/** Why an attempt failed. */
export interface Failure {
  readonly error_code?: number;
  readonly error_message?: string;
  readonly error_stacktrace?: string;
  readonly related_command_index?: number;
  readonly related_command_name?: string;
  readonly related_command_type?: string;
}

/** The failure that an event tells of. */
export function failureIn({ event_json: json }: Pick<EventRow, "event_json">): Failure {
  try {
    const read = JSON.parse(json) as Failure & { readonly last_failure?: Failure };
    return read.last_failure ?? read;
  } catch {
    return { error_message: json };
  }
}

const EVENTS_MAX = 500;

/** Its events, the newest first. */
export function eventsOf(id: string): Sql {
  const count = abilities().hasWaitingColumns ? sql`, failed_attempts` : sql``;
  return sql`SELECT after_journal_entry_index, appended_at, event_type, event_json${count}
    FROM sys_journal_events WHERE id = ${id} ORDER BY appended_at DESC LIMIT ${EVENTS_MAX}`;
}

/** Its failed attempts and pauses, the newest first. */
export function useEvents(id: string, everyMs: number) {
  const file = useOpened();
  const used = useQuery<EventRow>(eventsOf(id), { everyMs, isOn: !file, about: aboutOf(id) });
  return file ? usedOf(file.events as EventRow[]) : used;
}

/** Entries that are asked for first: some screens full, so that a long journal is seen soon. */
const FIRST_ENTRIES = 300;

/** As much of a journal as is known. */
export interface KnownJournal {
  readonly rows: readonly EntryRow[];
  /** Whether these are all that there were. Else the others are being asked for. */
  readonly isWhole: boolean;
}

/**
 * Its journal without values: the first entries, then all. Afterwards only what has come since is read.
 */
export function useKnownJournal(id: string, everyMs: number, isOn = true): Used<KnownJournal> {
  const file = useOpened();
  const use = { everyMs, isOn: isOn && !file, about: aboutOf(id) };
  const used = useResource(journalKey(id), journalOf(id), use);
  const { data, error, refresh } = used;
  useEffect(() => {
    if (isOn && data?.isWhole === false && !error) refresh();
  }, [data, error, isOn]);
  return file ? usedOf({ rows: file.journal, isWhole: true }) : used;
}

/** Its journal without values, once all of it is known. */
export function useJournal(id: string, everyMs: number): Used<readonly EntryRow[]> {
  const { data: known, ...used } = useKnownJournal(id, everyMs);
  return known?.isWhole ? { ...used, data: known.rows } : used;
}

/** Steps by the entries that they are of: several parts of the page need them. */
const stepsOfRows = new WeakMap<readonly EntryRow[], readonly Step[]>();

/** The steps of a journal as far as it is known. */
export function stepsIn({ rows, isWhole }: KnownJournal): readonly Step[] {
  const steps = stepsOfRows.get(rows) ?? stepsOf(rows, isWhole);
  stepsOfRows.set(rows, steps);
  return steps;
}

const journalKey = (id: string) => `journal ${id}`;

function journalOf(id: string) {
  let known: KnownJournal = { rows: [], isWhole: false };
  return async (signal: AbortSignal) => {
    // What is known now: a request that was given up may still be answered meanwhile.
    const { rows, isWhole: wasWhole } = known;
    const { length } = rows;
    // With the last one that is known: if that is gone, the journal was purged.
    const first = Math.max(0, length - 1);
    const end = length === 0 ? sql`AND index < ${FIRST_ENTRIES}` : sql``;
    const read = await query<EntryRow>(
      sql`SELECT index, entry_type, appended_at, entry_lite_json
        FROM sys_journal WHERE id = ${id} AND index >= ${first} ${end} ORDER BY index`,
      signal,
    );
    if (length > 0 && read.length === 0) return known = { rows: [], isWhole: true };
    const more = read.slice(length - first);
    const isWhole = length > 0 || more.length < FIRST_ENTRIES;
    if (more.length === 0 && isWhole === wasWhole && known.rows === rows) return known;
    return known = { rows: more.length > 0 ? [...rows, ...more] : rows, isWhole };
  };
}

/** An entry with its values. */
export interface FullEntry {
  readonly index: Int;
  readonly entry_type: string;
  readonly entry_json?: string;
  readonly raw?: string;
  readonly appended_at?: string;
}

/** Entries with their values, by their places. They never change. */
export function useEntries(id: string, indexes: readonly number[]) {
  const file = useOpened();
  const used = useQuery<FullEntry>(
    sql`SELECT index, entry_type, entry_json, raw, appended_at FROM sys_journal
      WHERE id = ${id} AND index IN ${indexes} ORDER BY index`,
    { isOn: indexes.length > 0 && !file },
  );
  if (!file) return used;
  // Without its values an entry has its names.
  return usedOf(
    indexes.flatMap((index) => file.journal[index] ?? [])
      .map((entry) => ({
        ...entry,
        entry_json: entry.entry_json ?? entry.entry_lite_json ?? "{}",
      })),
  );
}

type Callee = StatusColumns & { readonly id: string };

/** Callees that are asked for at once. */
const CALLEES_MAX = 200;

/** Where those stand that it called, by id. */
export function useCallees(ids: readonly string[], everyMs: number): ReadonlyMap<string, Callee> {
  const asked = ids.slice(-CALLEES_MAX);
  const statement = sql`SELECT id, status, completion_result, completion_failure
    FROM sys_invocation WHERE id IN ${asked}`;
  const file = useOpened();
  const { data } = useQuery<Callee>(statement, {
    everyMs,
    isOn: asked.length > 0 && !file,
    about: { invocations: asked },
  });
  return new Map(data?.map((row) => [row.id, row]));
}
