// Chromium for tests, benchmarks and pictures: one of Debian's, or another one that the environment names.
import { existsSync } from "node:fs";
import process from "node:process";
import { chromium } from "playwright-core";

/** Chromium without a window, whose pages cost half the CPU, and the whole browser. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** None is downloaded. */
export const PROGRAM = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path)) ??
  PROGRAMS[0];

/** Nothing that reaches out by itself, and no sandbox, which a container has no right to make. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Whether there is a browser. */
export const hasChromium = existsSync(PROGRAM);

/** Starts a browser, which the caller closes. `flags`: further ones. Rejects where there is none. */
export async function openChromium(flags = []) {
  if (!hasChromium) throw new Error(`There is no ${PROGRAM}: install Chromium, or set CHROMIUM`);
  return await chromium.launch({ executablePath: PROGRAM, args: [...FLAGS, ...flags] });
}
