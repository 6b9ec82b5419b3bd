import { BINS, BOUNDS_MS, type DoneRow, NEWEST_MAX, type Range, RANGES } from "./statements.ts";

const MINUTE_MS = 60_000;

/** What a service, or all of them, completed in a range. */
export interface Figures {
  readonly done: number;
  readonly failed: number;
  readonly donePerMinute: number;
  /** Completed, and failed, in each bin of the range, the oldest first. */
  readonly doneByTime: readonly number[];
  readonly failedByTime: readonly number[];
  /** Bounds: half of them, and 95 of 100, took less. In ms; Infinity beyond the last bound. */
  readonly p50?: number;
  readonly p95?: number;
}

export interface History {
  readonly all: Figures;
  readonly byService: ReadonlyMap<string, Figures>;
  /** How long the time is that figures are of, in ms: less than the range when there is too much. */
  readonly spanMs: number;
  readonly isWhole: boolean;
}

/** Figures of the rows of `doneIn`. `now`: in ms since the epoch. */
export function historyOf(rows: readonly DoneRow[], range: Range, now: number): History {
  const binMs = RANGES[range].binMinutes * MINUTE_MS;
  const rangeMs = BINS * binMs;
  const read = rows.reduce((sum, { n }) => sum + Number(n), 0);
  const first = Math.min(...rows.map(({ first }) => Date.parse(first)));
  const spanMs = read < NEWEST_MAX ? rangeMs : Math.max(MINUTE_MS, Math.min(rangeMs, now - first));
  const done = rows.filter(({ minute }) => minute !== undefined);
  const time = { now, spanMs, binMs };
  const byService = Map.groupBy(done, ({ service }) => service);
  return {
    all: figuresOf(done, time),
    byService: new Map(
      [...byService].map(([name, rows]) => [name, figuresOf(rows, time)] as const),
    ),
    spanMs,
    isWhole: spanMs === rangeMs,
  };
}

function figuresOf(rows: readonly DoneRow[], { now, spanMs, binMs }: {
  readonly now: number;
  readonly spanMs: number;
  readonly binMs: number;
}): Figures {
  const [doneByTime, failedByTime] = [new Array(BINS).fill(0), new Array(BINS).fill(0)];
  const took = new Map<number, number>();
  let [done, failed] = [0, 0];
  const last = Math.floor(now / binMs);
  for (const row of rows) {
    const n = Number(row.n);
    const bin = BINS - 1 - (last - Math.floor(Date.parse(row.minute ?? "") / binMs));
    const place = Math.max(0, Math.min(bin, BINS - 1));
    const bound = row.took === undefined ? Infinity : Number(row.took);
    took.set(bound, (took.get(bound) ?? 0) + n);
    done += n;
    doneByTime[place] += n;
    if (row.ended !== "failed") continue;
    failed += n;
    failedByTime[place] += n;
  }
  const donePerMinute = done / (spanMs / MINUTE_MS);
  const [p50, p95] = [boundOf(took, done, 0.5), boundOf(took, done, 0.95)];
  const bounds = done === 0 ? {} : { p50, p95 };
  return { done, failed, donePerMinute, doneByTime, failedByTime, ...bounds };
}

/** The bound that a share of all took less than. */
function boundOf(took: ReadonlyMap<number, number>, count: number, share: number): number {
  let seen = 0;
  for (const bound of BOUNDS_MS) {
    seen += took.get(bound) ?? 0;
    if (seen >= count * share) return bound;
  }
  return Infinity;
}
