import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";

/** File descriptors of this process: files, connections, and what threads wake each other with. */
export interface Descriptors {
  readonly open: number;
  /** The most that may be open. `Infinity`: no limit. */
  readonly max: number;
}

/** What a database file takes: two connections with their logs, and a thread. */
export const DATABASE_DESCRIPTORS = 16;
/** What must be left for callers, endpoints and queries when the server has opened its databases. */
const SPARE_DESCRIPTORS = 64;

const FOLDER = "/proc/self/fd";

/**
 * Counts the descriptors of this process. Undefined where the system does not tell: only Linux does,
 * and Deno shows it to nobody without all permissions. Reads a folder with an entry for each
 * descriptor, so it is for a start or a page of metrics.
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
 * Looks every few seconds how many descriptors are left, and logs when they run short and when there
 * are enough again: connections wait or are refused meanwhile, and node says nothing. Stops where
 * nothing can be counted, and never keeps the process.
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
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    const found = await lookLater();
    isLooking = false;
    if (found) judge(found);
    else clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
}

/** As `descriptors`, without holding up this thread. */
async function lookLater(): Promise<Descriptors | undefined> {
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
