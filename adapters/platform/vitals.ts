import { performance } from "node:perf_hooks";
import process from "node:process";
import { readdirSync } from "node:fs";
import type { Vitals } from "../../src/vitals.ts";
import { descriptors } from "./descriptors.ts";
import type { OpenConnections } from "./open_connections.ts";

const startedAt = Date.now() - Math.round(process.uptime() * 1000);

/**
 * Measurements of this process, for a page of metrics: too slow for anything more frequent. `open`:
 * the connections of each interface that are counted.
 */
export function vitals(open: ReadonlyMap<string, OpenConnections>): Vitals {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    startedAt,
    cpuMs: (user + system) / 1000,
    residentBytes: rss,
    heapBytes: heapUsed,
    descriptors: descriptors(),
    threads: threads(),
    traffic: [...open].map(([name, one]) => ({ interface: name, ...one.count() })),
  };
}

/** Undefined where the system does not tell, like `descriptors`. */
function threads(): number | undefined {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return undefined;
  }
}

const EVERY_MS = 100;

/**
 * Sets a timer ten times a second and reports its delay, in milliseconds with fractions: every request
 * to this process waits at least as long. Timers count from the start of the loop's round, so one may
 * fire early: then 0 is reported. Returns a function that stops it.
 */
export function watchLoop(late: (ms: number) => void): () => void {
  let due = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    late(Math.max(0, now - due));
    due = now + EVERY_MS;
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
