import { useEffect, useRef, useState } from "preact/hooks";
import { EVERY_MS, useResource } from "./hooks.ts";
import { ApiError } from "./client.ts";
import { resourceOf } from "./resource.ts";

export interface PagesOptions<Row> {
  /** What the rows are a list of: the conditions and the order. */
  readonly key: string;
  /** Reads one page: the first, or the one behind a row. */
  readonly load: (after: Row | undefined, signal: AbortSignal) => Promise<Row[]>;
  /** Reads rows again by their ids: those that may have changed. */
  readonly reload: (ids: readonly string[], signal: AbortSignal) => Promise<Row[]>;
  readonly idOf: (row: Row) => string;
  /** Whether a row may still change. */
  readonly isOpen: (row: Row) => boolean;
  /** Rows of a page. A shorter page is the last. */
  readonly size: number;
}

export interface Pages<Row> {
  /** Absent until the first answer. */
  readonly rows: readonly Row[] | undefined;
  readonly error: ApiError | undefined;
  /** Rows that came since, and are not shown: nothing moves while somebody reads. */
  readonly newCount: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Shows the new rows. */
  readonly showNew: () => void;
  /** Reads the next page. */
  readonly more: () => void;
  readonly refresh: () => void;
}

/** Rows beyond the first page that are read again while they may change. */
const OPEN_MAX = 200;

interface Shown<Row> {
  readonly key: string;
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/**
 * A list that is read page by page behind its last row, however long it is, and followed: rows change
 * in place, and those that are new are counted until they are asked for.
 */
export function usePages<Row>(options: PagesOptions<Row>): Pages<Row> {
  const { key, idOf, size } = options;
  const head = useResource(headKey(key), firstOf(options), { everyMs: EVERY_MS.list });
  const fresh = head.at === undefined ? undefined : head.data;
  const [shown, show] = useState<Shown<Row>>({ key: "", rows: [], hasMore: false });
  const first = (rows: readonly Row[]) => show({ key, rows, hasMore: rows.length === size });
  useEffect(() => {
    if (!fresh) return;
    if (shown.key !== key || shown.rows.length === 0) first(fresh);
    else show((was) => ({ ...was, rows: replaced(was.rows, fresh, idOf) }));
  }, [fresh, key]);
  const rows = shown.key === key ? shown.rows : undefined;
  useChanged(
    options,
    rows,
    fresh,
    (change) => show((was) => was.key === key ? { ...was, rows: change(was.rows) } : was),
  );
  const next = useMore(options, shown, show);
  const known = new Set(rows?.map(idOf));
  return {
    rows,
    error: head.error ?? next.error,
    newCount: rows ? fresh?.filter((row) => !known.has(idOf(row))).length ?? 0 : 0,
    hasMore: shown.hasMore,
    isLoading: head.isLoading || next.isLoading,
    showNew: () => fresh && first(fresh),
    more: next.more,
    refresh: head.refresh,
  };
}

const headKey = (key: string) => `pages ${key}`;

const firstOf = <Row>({ load }: Pick<PagesOptions<Row>, "load">) => (signal: AbortSignal) =>
  load(undefined, signal);

/** Asks for the first page before a component does. */
export function askPages<Row>(options: Pick<PagesOptions<Row>, "key" | "load">): void {
  void resourceOf(headKey(options.key), firstOf(options)).refresh();
}

/** Rows with those of the same id in their place that are newer. */
function replaced<Row>(
  rows: readonly Row[],
  newer: readonly Row[],
  idOf: (row: Row) => string,
): readonly Row[] {
  const byId = new Map(newer.map((row) => [idOf(row), row]));
  return rows.map((row) => byId.get(idOf(row)) ?? row);
}

type Change<Row> = (rows: readonly Row[]) => readonly Row[];

/**
 * Follows rows that the first page no longer has: those that may change, and those that are gone or no
 * longer belong to the list, since the page has others before and behind them. What is gone is left
 * out; what no longer belongs to the list stays until it is sorted anew.
 */
function useChanged<Row>(
  options: PagesOptions<Row>,
  rows: readonly Row[] | undefined,
  fresh: readonly Row[] | undefined,
  onChange: (change: Change<Row>) => void,
): void {
  const { reload, idOf } = options;
  const ids = doubtful(options, rows ?? [], fresh ?? []).slice(0, OPEN_MAX).map(idOf);
  const { data } = useResource(
    `rows ${ids.join(" ")}`,
    async (signal) => ({ ids, rows: await reload(ids, signal) }),
    { everyMs: EVERY_MS.list, isOn: fresh !== undefined && ids.length > 0 },
  );
  useEffect(() => {
    if (!data) return;
    const there = new Set(data.rows.map(idOf));
    const gone = new Set(data.ids.filter((id) => !there.has(id)));
    onChange((was) => replaced(was, data.rows, idOf).filter((row) => !gone.has(idOf(row))));
  }, [data]);
}

/** Rows of which the first page of now says nothing, and that may not be as they were. */
function doubtful<Row>(
  { idOf, isOpen, size }: PagesOptions<Row>,
  rows: readonly Row[],
  fresh: readonly Row[],
): Row[] {
  const inHead = new Set(fresh.map(idOf));
  // Of these the page would have each one.
  const covered = fresh.length < size
    ? rows.length
    : rows.findLastIndex((row) => inHead.has(idOf(row)));
  return rows.filter((row, at) => !inHead.has(idOf(row)) && (isOpen(row) || at < covered));
}

/** Reads further pages, one at a time. */
function useMore<Row>(
  { key, load, idOf, size }: PagesOptions<Row>,
  shown: Shown<Row>,
  show: (change: (was: Shown<Row>) => Shown<Row>) => void,
) {
  const request = useRef<AbortController | undefined>(undefined);
  const [error, fail] = useState<ApiError>();
  useEffect(() => () => {
    request.current?.abort();
    request.current = undefined;
  }, [key]);
  const more = async () => {
    const last = shown.rows.at(-1);
    if (request.current || !shown.hasMore || !last || shown.key !== key) return;
    const own = request.current = new AbortController();
    try {
      const rows = await load(last, own.signal);
      const known = new Set(shown.rows.map(idOf));
      const others = rows.filter((row) => !known.has(idOf(row)));
      show((was) =>
        was.key === key
          ? { key, rows: [...was.rows, ...others], hasMore: rows.length === size }
          : was
      );
      fail(undefined);
    } catch (cause) {
      if (!own.signal.aborted) {
        fail(cause instanceof ApiError ? cause : new ApiError(0, String(cause)));
      }
    } finally {
      if (request.current === own) request.current = undefined;
    }
  };
  return { more: () => void more(), error, isLoading: request.current !== undefined };
}
