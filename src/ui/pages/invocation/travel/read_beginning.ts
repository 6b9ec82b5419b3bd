import type { Service } from "../../../data/catalog.ts";
import { api, query } from "../../../data/client.ts";
import { useResource } from "../../../data/hooks.ts";
import { abilities, isPerdure } from "../../../data/server.ts";
import { sql } from "../../../data/sql.ts";
import {
  ENTRIES_MAX,
  holderOf,
  type HolderRow,
  type Keyed,
  SEARCHED_MAX,
  stateOf,
  type StateRow,
} from "../../keyed/statements.ts";
import type { Whole } from "../data.ts";
import { useOpened } from "../opened.ts";
import type { EntryRow } from "../steps.ts";
import type { EarlierRun, Sources } from "./beginning.ts";

/** Earlier runs whose journals are read. */
const RUNS_MAX = 20;
/** Changes of states that are searched for those of one object. */
const EDITS_MAX = 1_000;

/** Entries that say something of the state, and the first of each journal. */
const TYPES = [
  ...["Input", "SetState", "ClearState", "ClearAllState", "GetLazyState", "GetEagerState"]
    .map((type) => `Command: ${type}`),
  "Notification: GetLazyState",
];

interface Other {
  readonly id: string;
  readonly handler: string;
  readonly created_at: string;
  readonly running_at: string;
}

/** What else is known of the object of a run, read once; nothing for a file. Undefined: not read yet. */
export function useSources(row: Whole): Sources | undefined {
  const isOn = useOpened() === undefined && row.running_at !== undefined;
  const isOpen = row.status !== "completed";
  const load = (signal: AbortSignal) => readSources(row, signal);
  const { data, error } = useResource(`beginning ${row.id} ${isOpen}`, load, { isOn });
  return data ?? (isOn && !error ? undefined : NOTHING);
}

const NOTHING: Sources = { runs: [] };

async function readSources(row: Whole, signal: AbortSignal): Promise<Sources> {
  const { target_service_name: service, target_service_key: key = "" } = row;
  const keyed: Keyed = { service, key, scope: await scopeOf(row, signal) };
  const [typeOf, earlier, later, edits] = await Promise.all([
    typesOf(service, signal),
    othersOf(row, true, signal),
    othersOf(row, false, signal),
    editsOf(keyed, signal),
  ]);
  const began = row.running_at ?? row.created_at;
  const isShared = (handler: string) => typeOf(handler) === "Shared";
  if (typeOf(row.target_handler_name) === "Workflow" && !edits.some((at) => at < began)) {
    return { runs: [], isNew: true };
  }
  const before = earlier.filter(({ handler }) => !isShared(handler)).slice(0, RUNS_MAX);
  const edited = edits.filter((at) => at < began).at(0) ?? "";
  const sure = before.filter(({ created_at: at }) => at > edited);
  const isChanged = later.some(({ handler }) => !isShared(handler)) ||
    edits.some((at) => at > row.created_at);
  const isHolder = row.status !== "completed" && !isShared(row.target_handler_name) &&
    (await query<HolderRow>(holderOf(keyed), signal))[0]?.id === row.id;
  const runs = await runsOf(sure, signal);
  if (!isHolder && (isChanged || row.status !== "completed")) return { runs };
  const rows = await query<StateRow>(stateOf(keyed), signal);
  return { runs, now: { rows: rows.slice(0, ENTRIES_MAX), isWhole: rows.length <= ENTRIES_MAX } };
}

async function scopeOf({ id }: Whole, signal: AbortSignal): Promise<string | undefined> {
  if (!abilities().hasLimits) return undefined;
  const [row] = await query<{ scope?: string }>(
    sql`SELECT scope FROM sys_invocation WHERE id = ${id}`,
    signal,
  );
  return row?.scope;
}

/** The types of handlers: shared ones cannot write. Of a service that is gone, none is known. */
async function typesOf(name: string, signal: AbortSignal) {
  const path = `services/${encodeURIComponent(name)}`;
  const service = await api<Service>(path, { signal }).catch(() => undefined);
  const types = new Map(service?.handlers.map((one) => [one.name, one.ty] as const));
  return (handler: string) => types.get(handler);
}

/** Other runs of the same object: those that began before, the last first, or behind it. */
function othersOf(row: Whole, isEarlier: boolean, signal: AbortSignal): Promise<Other[]> {
  const { id, target_service_name: service, target_service_key: key = "" } = row;
  const began = row.running_at ?? row.created_at;
  const when = isEarlier
    ? [sql`WHERE created_at <= ${began}`, sql`running_at < ${began}`] as const
    : [sql``, sql`running_at >= ${began}`] as const;
  return query<Other>(
    sql`SELECT id, handler, created_at, running_at FROM (
      SELECT id, target_handler_name AS handler, target_service_name, target_service_key,
        created_at, running_at
      FROM sys_invocation ${when[0]} ORDER BY created_at DESC LIMIT ${SEARCHED_MAX}) AS r
    WHERE target_service_name = ${service} AND target_service_key = ${key} AND id <> ${id}
      AND ${when[1]} ORDER BY running_at DESC LIMIT ${10 * RUNS_MAX}`,
    signal,
  );
}

/** When somebody edited the state, the last first. Only this server records it. */
async function editsOf({ service, key }: Keyed, signal: AbortSignal): Promise<readonly string[]> {
  if (!isPerdure()) return [];
  const rows = await query<{ created_at: string; target: string }>(
    sql`SELECT created_at, target FROM sys_audit
      WHERE route = '/services/:service/state' AND status < 300
      ORDER BY created_at DESC LIMIT ${EDITS_MAX}`,
    signal,
  );
  return rows.filter(({ target }) => {
    const named = JSON.parse(target) as Readonly<Record<string, string>>;
    // Long keys are cut.
    const isSame = key.startsWith((named["object_key"] ?? "").replace(/…$/, ""));
    return named["service"] === service && isSame;
  }).map(({ created_at: at }) => at);
}

/** Their journals, up to one that is no longer kept: what that wrote is not known. */
async function runsOf(others: readonly Other[], signal: AbortSignal): Promise<EarlierRun[]> {
  if (others.length === 0) return [];
  const rows = await query<EntryRow & { readonly id: string }>(
    sql`SELECT id, index, entry_type, entry_lite_json FROM sys_journal
      WHERE id IN ${others.map(({ id }) => id)} AND entry_type IN ${TYPES} ORDER BY id, index`,
    signal,
  );
  const byId = Map.groupBy(rows, ({ id }) => id);
  const end = others.findIndex(({ id }) => !byId.has(id));
  return others.slice(0, end < 0 ? others.length : end)
    .map(({ id, handler }) => ({ id, handler, rows: byId.get(id)! }));
}
