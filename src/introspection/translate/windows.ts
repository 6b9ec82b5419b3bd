import type { ColumnType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import type { Value } from "./scope.ts";

interface Windowed {
  readonly sql: string;
  readonly type: ColumnType;
}

type Make = (args: readonly Value[]) => Windowed;

const rank = (name: string, type: ColumnType): Make => (args) => {
  if (args.length > 0) throw refused(`${name} takes no argument`);
  return { sql: `${name}()`, type };
};

/** Of a value, and what comes behind it: places and what there is instead of a value. */
const pick = (name: string, argsMax: number): Make => (args) => {
  const [value] = args;
  if (!value || args.length > argsMax) throw refused(`${name} takes 1 to ${argsMax} arguments`);
  return { sql: `${name}(${args.map(({ sql }) => sql).join(", ")})`, type: value.type };
};

/** Functions that are of a window only. Aggregates are of either. */
export const windows: Readonly<Record<string, Make>> = {
  row_number: rank("row_number", "u64"),
  rank: rank("rank", "u64"),
  dense_rank: rank("dense_rank", "u64"),
  percent_rank: rank("percent_rank", "f64"),
  cume_dist: rank("cume_dist", "f64"),
  ntile: (args) => ({ ...pick("ntile", 1)(args), type: "u64" }),
  lag: pick("lag", 3),
  lead: pick("lead", 3),
  first_value: pick("first_value", 1),
  last_value: pick("last_value", 1),
  nth_value: pick("nth_value", 2),
};
