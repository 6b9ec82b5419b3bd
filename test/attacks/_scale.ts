import process from "node:process";

/** How much longer than in a usual run: `ATTACK_SCALE=200 npx vitest run test/attacks`. */
export const SCALE = Number(process.env["ATTACK_SCALE"] ?? "1");
/** Of one test. */
export const TEST_MS = 30_000 + 10_000 * SCALE;

/** Prints a figure of a longer run. */
export function tell(figures: Readonly<Record<string, unknown>>): void {
  if (SCALE > 1) console.log(JSON.stringify(figures));
}
