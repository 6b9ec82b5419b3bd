/**
 * Durations as people write them: ISO 8601 (`PT1H30M`) or humantime (`1h 30m`), in requests, in
 * admin bodies and in the configuration. Within the program a duration is a number of whole
 * milliseconds.
 */

/**
 * The longest duration there is: 7,304,484 days, as in the reference
 * (docs/spec/ingress.md#durations).
 */
export const DURATION_MS_MAX = 631_107_417_600_000;

/** Says why a text is no duration. */
export class BadDuration extends RangeError {
  override name = "BadDuration";
}

/** One amount of one unit. `rank` orders units; those that have no fixed length have no `ns`. */
interface Unit {
  readonly rank: number;
  readonly ns?: bigint;
  readonly fractions: boolean;
}

interface Part {
  readonly amount: string;
  readonly fraction: string | undefined;
  readonly unit: Unit;
}

const year: Unit = { rank: 9, fractions: false };
const month: Unit = { rank: 8, fractions: false };
const week: Unit = { rank: 7, ns: 604_800_000_000_000n, fractions: false };
const day: Unit = { rank: 6, ns: 86_400_000_000_000n, fractions: false };
const hour: Unit = { rank: 5, ns: 3_600_000_000_000n, fractions: true };
const minute: Unit = { rank: 4, ns: 60_000_000_000n, fractions: true };
const second: Unit = { rank: 3, ns: 1_000_000_000n, fractions: true };
const milli: Unit = { rank: 2, ns: 1_000_000n, fractions: true };
const micro: Unit = { rank: 1, ns: 1_000n, fractions: true };
const nano: Unit = { rank: 0, ns: 1n, fractions: false };

const humanUnits = byName([
  [year, "y yr yrs year years"],
  [month, "mo mos month months"],
  [week, "w wk wks week weeks"],
  [day, "d day days"],
  [hour, "h hr hrs hour hours"],
  [minute, "m min mins minute minutes"],
  [second, "s sec secs second seconds"],
  [milli, "ms msec msecs milli millis millisecond milliseconds"],
  [micro, "us \u00b5s \u03bcs usec usecs micro micros microsecond microseconds"],
  [nano, "ns nsec nsecs nano nanos nanosecond nanoseconds"],
]);
const isoDateUnits = byName([[year, "y"], [month, "m"], [week, "w"], [day, "d"]]);
const isoTimeUnits = byName([[hour, "h"], [minute, "m"], [second, "s"]]);

/** 19 digits hold every amount in range, and keep hostile ones cheap. */
const HUMAN_PART = /(\d{1,19})(?:[.,](\d{1,9}))?\s*([a-z\u00b5\u03bc]+)(?:,\s+|\s*)/y;
const ISO_PART = /(\d{1,19})(?:[.,](\d{1,9}))?([a-z])/iy;

/**
 * The whole milliseconds in a duration, rounded up: nothing starts or expires too early. Throws
 * `BadDuration` as `nanosecondsIn` does.
 */
export function parseDuration(text: string): number {
  const ms = (nanosecondsIn(text) + 999_999n) / 1_000_000n;
  if (ms > DURATION_MS_MAX) throw new BadDuration("a duration cannot be longer than 7304484 days");
  return Number(ms);
}

/**
 * The nanoseconds in a duration. `0` needs no unit. Units go from large to small, each at most once;
 * only the last may have a fraction, and only hours and smaller ones. Throws `BadDuration` for
 * anything else, for negative durations, and for years and months, whose length is not fixed
 * (docs/spec/ingress.md#durations).
 */
export function nanosecondsIn(text: string): bigint {
  if (text === "0") return 0n;
  if (text === "") throw new BadDuration("an empty string is not a duration");
  const negative = text[0] === "-";
  const unsigned = negative || text[0] === "+" ? text.slice(1) : text;
  const parts = /^p/i.test(unsigned) ? isoParts(unsigned) : humanParts(unsigned);
  const ns = total(parts);
  if (negative && ns > 0n) throw new BadDuration("a duration cannot be negative");
  return ns;
}

/** Prints whole milliseconds the way the admin interface shows them: `1d 2h 3m 4s 5ms`, `0s`. */
export function printDuration(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [size, name] of PRINTED) {
    const amount = Math.floor(rest / size);
    if (amount > 0) parts.push(`${amount}${name}`);
    rest -= amount * size;
  }
  return parts.join(" ") || "0s";
}

const PRINTED: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
  [1, "ms"],
];

function humanParts(text: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < text.length;) {
    at = take(parts, text, { at, pattern: HUMAN_PART, units: humanUnits });
  }
  // A comma stands between two parts, never after the last.
  if (/,\s*$/.test(text)) throw malformed();
  return parts;
}

function isoParts(text: string): Part[] {
  const parts: Part[] = [];
  let units = isoDateUnits;
  let open = true;
  for (let at = 1; at < text.length;) {
    if (units === isoDateUnits && text[at]?.toLowerCase() === "t") {
      units = isoTimeUnits;
      open = true;
      at++;
    } else {
      at = take(parts, text, { at, pattern: ISO_PART, units });
      open = false;
    }
  }
  if (open) throw malformed();
  return parts;
}

/** Reads one part, and returns where the next one begins. */
function take(
  parts: Part[],
  text: string,
  { at, pattern, units }: { at: number; pattern: RegExp; units: ReadonlyMap<string, Unit> },
): number {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  const name = found?.[3];
  const unit = name === undefined
    ? undefined
    : units.get(pattern === ISO_PART ? name.toLowerCase() : name);
  if (!found || !unit) throw malformed();
  parts.push({ amount: found[1] ?? "", fraction: found[2], unit });
  return at + found[0].length;
}

function total(parts: readonly Part[]): bigint {
  let sum = 0n;
  for (const [index, { amount, fraction, unit }] of parts.entries()) {
    const next = parts[index + 1];
    if (unit.ns === undefined) throw new BadDuration("please use units of days or smaller");
    if (next && next.unit.rank >= unit.rank) {
      throw new BadDuration("units go from largest to smallest and cannot be repeated");
    }
    sum += BigInt(amount) * unit.ns;
    if (fraction === undefined) continue;
    if (next) throw new BadDuration("only the smallest unit can have a fraction");
    if (!unit.fractions) throw new BadDuration("only hours and smaller units can have a fraction");
    sum += BigInt(fraction.padEnd(9, "0")) * unit.ns / 1_000_000_000n;
  }
  return sum;
}

function malformed(): BadDuration {
  return new BadDuration('expected a duration such as "1h 30m" or "PT1H30M"');
}

function byName(rows: readonly (readonly [Unit, string])[]): ReadonlyMap<string, Unit> {
  return new Map(rows.flatMap(([unit, names]) => names.split(" ").map((name) => [name, unit])));
}
