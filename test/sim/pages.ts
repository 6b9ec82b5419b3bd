import type { Loaded } from "../../src/ports.ts";

/** Gives groups of more rows than this in pages of as many, as a store does with very many rows. */
export function inPages(loaded: readonly Loaded[], rowsMax: number): Loaded[] {
  return loaded.map(({ want, rows }) => {
    if (want.item !== undefined || rows.length <= rowsMax) return { want, rows };
    const count = Math.ceil(rows.length / rowsMax);
    const pages = Array.from(
      { length: count },
      (_, i) => rows.slice(i * rowsMax, (i + 1) * rowsMax),
    );
    return { want, rows: [], pages };
  });
}
