import { DIGITS } from "./table.ts";

const BASE_64 = "'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'";
const HEX = "'0123456789abcdef'";

/** Limbs of 32 bits, the lowest first. */
const LIMBS = ["a", "b", "c", "d"] as const;

/** Where the digits of an invocation id begin, and of how many limbs they are the number. */
const KEY = { first: 6, digits: 11, limbs: LIMBS.slice(0, 2) } as const;
const UNIQUE = { first: 17, digits: 22, limbs: LIMBS } as const;

/** A digit of base 64. `value`: SQL, 0 … 63. */
const digit64 = (value: string) => `substr(${BASE_64}, (${value}) + 1, 1)`;

/**
 * Tables for a WITH RECURSIVE, of which `prefix` is for `awakeableId`: what the ids of all awakeables of an invocation begin
 * with. `id`: of the invocation, as SQL. They are one list, since SQLite's parser takes no deep nesting.
 */
export function awakeableTables(id: string): string {
  const hex = (at: number) => `instr(${HEX}, substr(x, i + ${at}, 1)) - 1`;
  // Three hexadecimal digits are two of base 64.
  return `${numberOf("key_number", id, KEY)}, ${numberOf("unique_number", id, UNIQUE)},
  sign(i, x, s) as (
    select 1, ${hexOf("key_number", KEY)} || ${hexOf("unique_number", UNIQUE)}, 'sign_1'
    union all select i + 3, x, s || ${digit64(`(${hex(0)}) * 4 + (${hex(1)}) / 4`)} ||
    ${digit64(`(${hex(1)}) % 4 * 16 + ${hex(2)}`)} from sign where i < 48),
  prefix(s) as (select (select s from sign order by i desc limit 1))`;
}

/** The id of an awakeable, as `printAwakeableId` makes it, over the table `prefix`. `index`: SQL. */
export function awakeableId(index: string): string {
  const digits = [26, 20, 14, 8, 2].map((bits) => digit64(`${index} >> ${bits} & 63`));
  return `(prefix.s || ${digits.join(" || ")} || ${digit64(`(${index} & 3) * 16`)})`;
}

type Part = typeof KEY | typeof UNIQUE;

/** The number that digits of base 62 stand for, in the row with the highest `i`. */
function numberOf(table: string, id: string, { first, digits, limbs }: Part): string {
  // What a limb has too much is carried one step later, so that the last steps only carry.
  const low = (limb: string) => `(${limb} & 4294967295)`;
  const next = limbs.map((limb, i) =>
    i === 0
      ? `${low(limb)} * f + iif(f = 1, 0, instr(${DIGITS}, substr(y, ${first} + i, 1)) - 1)`
      : `(${low(limb)} + (${limbs[i - 1]} >> 32)) * f`
  );
  return `${table}(i, f, y, ${limbs.join(", ")}) as (
    select 0, 62, ${id}, ${limbs.map(() => 0).join(", ")}
    union all select i + 1, iif(i + 1 < ${digits}, 62, 1), y, ${next.join(", ")}
    from ${table} where i < ${digits + limbs.length})`;
}

/** The bytes of the number, the lowest first, as hexadecimal digits. */
function hexOf(table: string, { limbs }: Part): string {
  const bytes = limbs.flatMap((limb) => [0, 8, 16, 24].map((bits) => `${limb} >> ${bits} & 255`));
  const format = "%02x".repeat(bytes.length);
  return `(select printf('${format}', ${bytes.join(", ")}) from ${table} order by i desc limit 1)`;
}
