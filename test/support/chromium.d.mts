import type { Browser } from "playwright-core";

/** What `chromium.mjs` exports, which benchmarks use as well. */
export const PROGRAM: string;
export const hasChromium: boolean;
/** `flags`: beside those of every browser of tests. */
export function openChromium(flags?: readonly string[]): Promise<Browser>;
