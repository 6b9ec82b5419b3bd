import { cut, refused, unsupported } from "../refusal.ts";

const TIME =
  /^(\d{4,5}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d|[+-]\d\d)?$/i;

/** A time as text in milliseconds since the epoch; in UTC when it has no zone. */
export function parseTime(text: string): number {
  const parts = TIME.exec(text.trim());
  const [, date, time = "00:00:00", fraction = "", zone = "Z"] = parts ?? [];
  const ms = `${fraction}000`.slice(0, 4);
  const seconds = time.length === 5 ? `${time}:00` : time;
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.toUpperCase();
  const value = parts ? Date.parse(`${date}T${seconds}${fraction ? ms : ""}${offset}`) : NaN;
  if (Number.isFinite(value)) return value;
  throw refused(`Cannot run the query: '${cut(text)}' is not a timestamp`);
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
};

/** `1 hour 30 minutes`, `01:30:00` or seconds, in milliseconds. Months have no length. */
export function parseInterval(text: string): number {
  const trimmed = text.trim().toLowerCase();
  if (/^-?\d+(?:\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000);
  const parts = /^(?:-?\d+(?:\.\d+)?\s*[a-z]+\s*)+$/.test(trimmed)
    ? [...trimmed.matchAll(/(-?\d+(?:\.\d+)?)\s*([a-z]+)/g)]
    : [];
  if (parts.length === 0) throw refused(`Cannot run the query: '${cut(text)}' is not an interval`);
  let sum = 0;
  for (const [, amount, unit = ""] of parts) {
    const ms = Object.hasOwn(UNITS_MS, unit) ? UNITS_MS[unit] : undefined;
    if (ms === undefined) throw unsupported(`an INTERVAL in "${cut(unit)}"`);
    sum += Number(amount) * ms;
  }
  return Math.round(sum);
}

const DURATION = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i;

/** An ISO 8601 duration, or an interval, in milliseconds. */
export function parseSpan(text: string): number {
  const parts = DURATION.exec(text.trim());
  if (!parts) return parseInterval(text);
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  const sum = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return Math.round(sum * 1000) * (sign ? -1 : 1);
}
