import { isInteger, isSpan, isText, isTime } from "../column_type.ts";
import { refused, unsupported } from "../refusal.ts";
import { timeOf } from "./cast.ts";
import type { Make } from "./functions.ts";
import { constantAs } from "./literal.ts";
import type { Value } from "./scope.ts";

const NAMED_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
/** The epoch was a Thursday, weeks begin on Mondays. */
const WEEK_MS = 604_800_000;
const MONDAY_MS = 4 * 86_400_000;

/** Parts of a time as `strftime` gives them. */
const PARTS: Readonly<Record<string, string>> = {
  year: "%Y",
  month: "%m",
  day: "%d",
  hour: "%H",
  minute: "%M",
  second: "%S",
  doy: "%j",
  dow: "%w",
  week: "%W",
};

const now: Make = (_args, statement) => ({
  sql: `(${statement.now})`,
  type: "now",
  notNull: true,
  isSame: true,
});

/** The beginning of the interval that a time is in; intervals are counted from `origin`. */
const dateBin: Make = (args) => {
  const [interval, time, origin] = args;
  if (!interval || !time || args.length > 3) throw refused("date_bin takes an interval and a time");
  const width = isSpan(interval.type) ? interval.sql : constantAs("interval", interval)?.sql;
  if (width === undefined) throw refused("date_bin takes an interval and a time");
  const [at, from] = [timeSql(time), origin ? timeSql(origin) : "0"];
  return { sql: floorTo(at, width, from), type: "ts" };
};

const dateTrunc: Make = (args) => {
  const [unit, time, ...more] = args;
  if (!unit?.constant || !time || more.length > 0) {
    throw refused("date_trunc takes the name of a unit and a time");
  }
  const name = unit.constant.value.toLowerCase();
  const at = timeSql(time);
  if (Object.hasOwn(NAMED_MS, name)) {
    return { sql: floorTo(at, String(NAMED_MS[name]), "0"), type: "ts" };
  }
  if (name === "week") return { sql: floorTo(at, String(WEEK_MS), String(MONDAY_MS)), type: "ts" };
  if (name === "month" || name === "year") {
    return { sql: `unixepoch(${at} / 1000.0, 'unixepoch', 'start of ${name}') * 1000`, type: "ts" };
  }
  throw unsupported(`date_trunc to "${name}"`);
};

/** Rounds towards the past, also before the origin. */
function floorTo(at: string, width: string, from: string): string {
  const rest = `((${at} - ${from}) % (${width}))`;
  return `(${at} - (${rest} + (${width})) % (${width}))`;
}

const datePart: Make = (args) => {
  const [part, time, ...more] = args;
  if (!part?.constant || !time || more.length > 0) {
    throw refused("date_part takes the name of a part and a time");
  }
  const name = part.constant.value.toLowerCase();
  const at = timeSql(time);
  if (name === "epoch") return { sql: `(${at} / 1000.0)`, type: "f64" };
  const format = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (!format) throw unsupported(`date_part of "${name}"`);
  return {
    sql: `cast(strftime('${format}', ${at} / 1000.0, 'unixepoch') as integer)`,
    type: "i64",
  };
};

const toUnixtime: Make = (args) => {
  const [time, ...more] = args;
  if (!time || more.length > 0) throw refused("to_unixtime takes a time");
  return { sql: floorDiv(timeSql(time)), type: "i64" };
};

function floorDiv(at: string): string {
  return `((${floorTo(at, "1000", "0")}) / 1000)`;
}

/** A time from text, or from a count of what `perMs` of make a millisecond. */
const toTimestamp = (scale: string): Make => (args) => {
  const [value, ...more] = args;
  if (!value || more.length > 0) throw refused("to_timestamp takes one argument");
  const isCount = isInteger(value.type) || value.type === "f64";
  if (!isCount) return { sql: timeSql(value), type: "ts" };
  return { sql: `cast(${value.sql} ${scale} as integer)`, type: "ts" };
};

/** A time, or what can be read as one. */
function timeSql(value: Value): string {
  if (isTime(value.type) || value.type === "null") return `(${value.sql})`;
  const constant = constantAs("ts", value);
  if (constant) return `(${constant.sql})`;
  if (isText(value.type)) return timeOf(value.sql);
  throw refused("A timestamp is expected");
}

/** Functions of times (docs/spec/queries.md#dialect). */
export const timeFunctions: Readonly<Record<string, Make>> = {
  now,
  current_timestamp: now,
  date_bin: dateBin,
  date_trunc: dateTrunc,
  date_part: datePart,
  to_unixtime: toUnixtime,
  to_timestamp: toTimestamp("* 1000"),
  to_timestamp_seconds: toTimestamp("* 1000"),
  to_timestamp_millis: toTimestamp("* 1"),
  to_timestamp_micros: toTimestamp("/ 1000"),
  to_timestamp_nanos: toTimestamp("/ 1000000"),
  from_unixtime: toTimestamp("* 1000"),
};
