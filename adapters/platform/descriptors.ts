import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";

/** File descriptors of this process: files, connections, and those with which threads signal. */
export interface Descriptors {
  readonly open: number;
  /** The most that may be open. `Infinity`: no limit. */
  readonly max: number;
}

/** Descriptors of a database file: two connections with their logs, and a thread. */
export const DATABASE_DESCRIPTORS = 16;
/** Descriptors that must be left for callers, endpoints and queries when all databases are open. */
const SPARE_DESCRIPTORS = 64;

const FOLDER = "/proc/self/fd";

/**
 * Counts the descriptors of this process. Undefined where the system does not tell: only Linux does,
 * and Deno needs all permissions for it. Reads a folder with an entry for each descriptor, so it is
 * for a start or a page of metrics.
 */
export function descriptors(): Descriptors | undefined {
  try {
    const max = descriptorsMax();
    return max === undefined ? undefined : { open: countOf(readdirSync(FOLDER)), max };
  } catch (cause) {
    return whenNoneIsLeft(cause);
  }
}

/**
 * Throws `Failure` RT0026 when fewer descriptors are left than `count` and those that a server needs
 * to be of use. `what`: what they are for.
 */
export function requireDescriptors(count: number, what: string): void {
  const { open, max } = descriptors() ?? { open: 0, max: Infinity };
  const needed = open + count + SPARE_DESCRIPTORS;
  if (needed <= max) return;
  throw new Failure(
    "RT0026",
    `Cannot ${what}: this process may have ${max} file descriptors and needs at least ${needed}` +
      ` (${open} are open)`,
  );
}

const LOOK_MS = 5_000;
/** A record is repeated as long as descriptors are short, but not more often. */
const REPEAT_MS = 60_000;
const SHORT = 0.9;
const ENOUGH = 0.8;

/**
 * Counts descriptors every few seconds, and logs when they run short and when there are enough again:
 * connections wait or are refused meanwhile, and Node reports nothing. Stops where nothing can be
 * counted, and never keeps the process alive.
 */
export function watchDescriptors(log: Log): void {
  let saidAt: number | undefined;
  const judge = ({ open, max }: Descriptors) => {
    if (open >= SHORT * max && (saidAt === undefined || Date.now() - saidAt >= REPEAT_MS)) {
      saidAt = Date.now();
      log("error", "File descriptors run short: further connections wait or are refused", {
        code: "RT0026",
        open,
        max,
      });
    } else if (open < ENOUGH * max && saidAt !== undefined) {
      saidAt = undefined;
      log("info", "There are enough file descriptors again", { open, max });
    }
  };
  let isCounting = false;
  const timer = setInterval(async () => {
    if (isCounting) return;
    isCounting = true;
    const found = await descriptorsAsync();
    isCounting = false;
    if (found) judge(found);
    else clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
}

/** As `descriptors`, without blocking this thread. */
async function descriptorsAsync(): Promise<Descriptors | undefined> {
  try {
    const max = descriptorsMax();
    return max === undefined ? undefined : { open: countOf(await readdir(FOLDER)), max };
  } catch (cause) {
    return whenNoneIsLeft(cause);
  }
}

/** The last limit that could be read: there may be no descriptor left to read it with. */
let lastMax: number | undefined;

function descriptorsMax(): number | undefined {
  const line = /^Max open files +(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  if (!line) return undefined;
  return lastMax = line[1] === "unlimited" ? Infinity : Number(line[1]);
}

/** One entry is the listing's own descriptor. */
function countOf(entries: readonly string[]): number {
  return entries.length - 1;
}

function whenNoneIsLeft(cause: unknown): Descriptors | undefined {
  const { code } = cause as { readonly code?: string };
  if (code !== "EMFILE" || lastMax === undefined) return undefined;
  return { open: lastMax, max: lastMax };
}
