import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { api, query } from "./client.ts";
import type { About } from "./hint.ts";
import { type Load, resourceOf, type State } from "./resource.ts";
import type { Sql } from "./sql.ts";

/** How often what kind of view is read again, in ms, while no faster hint arrives. */
export const EVERY_MS = { invocation: 1_000, list: 5_000, overview: 15_000, once: 0 } as const;

export interface Use {
  /** Time between requests in ms. 0, the default: only once. */
  readonly everyMs?: number;
  /** Whether to ask at all. Default: yes. */
  readonly isOn?: boolean;
  /** What it is about: hints of anything else do not have it asked for. Default: everything. */
  readonly about?: About | undefined;
}

export interface Used<T> extends State<T> {
  /** Asks again at once. */
  readonly refresh: () => void;
}

/**
 * Reads something while the component is shown. Components with the same key share one request. When
 * the key changes, the data of the former key stays until the first answer, so that nothing flickers.
 */
export function useResource<T>(
  key: string,
  load: Load<T>,
  { everyMs = EVERY_MS.once, isOn = true, about }: Use = {},
): Used<T> {
  const resource = useMemo(() => resourceOf(key, load), [key]);
  // Before the browser paints: what is asked for is under way meanwhile.
  const changes = [resource, everyMs, isOn, JSON.stringify(about)];
  useLayoutEffect(() => isOn ? resource.use(everyMs, about) : undefined, changes);
  const state = resource.state.value;
  const last = useRef<T | undefined>(undefined);
  if (state.data !== undefined) last.current = state.data;
  const data = state.data ?? last.current;
  const refresh = () => void resource.refresh();
  return { ...state, refresh, ...(data !== undefined && { data }) };
}

/** Asks for the rows of a statement before a component does, which then finds the request under way. */
export function ask<Row>(statement: Sql): void {
  void resourceOf(statement.text, rowsOf<Row>(statement)).refresh();
}

const rowsOf = <Row>(statement: Sql) => (signal: AbortSignal) => query<Row>(statement, signal);

/** The rows of a statement, read while the component is shown. */
export function useQuery<Row>(statement: Sql, use?: Use): Used<Row[]> {
  return useResource(statement.text, rowsOf<Row>(statement), use);
}

/** What `GET` of a path of the admin API answers, read while the component is shown. */
export function useGet<T>(path: string, use?: Use): Used<T> {
  return useResource(`GET ${path}`, (signal) => api<T>(path, { signal }), use);
}
