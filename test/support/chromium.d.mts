import type { Browser } from "playwright-core";

/** What `chromium.mjs` exports, which benchmarks use as well. */
export const PROGRAM: string;
export const hasChromium: boolean;
export function openChromium(): Promise<Browser>;
