import { existsSync } from "node:fs";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";
import { missing } from "../support/fetched.ts";

/** Debian's, or another one that the environment names. None is downloaded. */
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Why no page can be opened: then these tests are skipped. Throws where tools are required. */
export const hasBrowser = existsSync(PROGRAM) ||
  missing("the tests of the UI", `there is no ${PROGRAM}`) !== undefined;

/** One browser for all tests of a file. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: PROGRAM, args: FLAGS });
}
