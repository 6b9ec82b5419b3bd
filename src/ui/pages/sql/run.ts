import { useRef, useState } from "preact/hooks";
import { ApiError, apiText } from "../../data/client.ts";
import { parseJson } from "../../data/json.ts";

export type Row = Readonly<Record<string, unknown>>;

/** What a statement answered. */
export interface Result {
  readonly statement: string;
  readonly rows: readonly Row[];
  /** In the order of the statement, as far as rows show it: a column without values is absent. */
  readonly columns: readonly string[];
  /** What the server remarks on the statement. */
  readonly warnings: readonly string[];
  readonly ms: number;
  readonly bytes: number;
  /** The answer as it came: every digit, every order. */
  readonly text: string;
}

export interface Running {
  readonly result: Result | undefined;
  readonly error: ApiError | undefined;
  readonly isBusy: boolean;
  run(statement: string): Promise<void>;
  stop(): void;
}

/** Runs statements, one at a time: a newer one ends the one before. */
export function useStatement(): Running {
  const [state, set] = useState<Pick<Running, "result" | "error" | "isBusy">>({
    ...{ result: undefined, error: undefined, isBusy: false },
  });
  const request = useRef<AbortController | undefined>(undefined);
  const run = async (statement: string) => {
    request.current?.abort();
    const mine = request.current = new AbortController();
    set((was) => ({ ...was, error: undefined, isBusy: true }));
    try {
      const result = await resultOf(statement, mine.signal);
      if (mine === request.current) set({ result, error: undefined, isBusy: false });
    } catch (cause) {
      if (mine !== request.current) return;
      const error = mine.signal.aborted
        ? new ApiError(0, "Stopped.")
        : cause instanceof ApiError
        ? cause
        : new ApiError(0, String(cause));
      set({ result: undefined, error, isBusy: false });
    }
  };
  return { ...state, run, stop: () => request.current?.abort() };
}

async function resultOf(statement: string, signal: AbortSignal): Promise<Result> {
  const startedAt = performance.now();
  const text = await apiText("query", { method: "POST", body: { query: statement }, signal });
  const ms = performance.now() - startedAt;
  const { rows, warnings = [] } = parseJson(text) as { rows: Row[]; warnings?: unknown[] };
  return {
    ...{ statement, rows, ms, text },
    columns: columnsOf(rows),
    warnings: warnings.map((one) => typeof one === "string" ? one : JSON.stringify(one)),
    bytes: new Blob([text]).size,
  };
}

/** Columns of all rows. One that the first rows lack stands behind its neighbor, as in the statement. */
export function columnsOf(rows: readonly Row[]): string[] {
  const columns: string[] = [];
  const known = new Set<string>();
  for (const row of rows) {
    let before = "";
    for (const name of Object.keys(row)) {
      if (!known.has(name)) {
        known.add(name);
        columns.splice(before === "" ? 0 : columns.indexOf(before) + 1, 0, name);
      }
      before = name;
    }
  }
  return columns;
}

/** A value as one text. Undefined: it is null. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Rows as CSV (RFC 4180): quoted where it is needed, null as nothing. */
export function csvOf({ rows, columns }: Pick<Result, "rows" | "columns">): string {
  const lines = rows.map((row) => columns.map((name) => field(textOf(row[name]) ?? "")));
  return [columns.map(field), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
