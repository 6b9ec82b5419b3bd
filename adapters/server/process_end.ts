import process from "node:process";
import type { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { reportStartFailure } from "./start_failure.ts";

/** 128 and the signal's number, as shells count. */
const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Until the server is ready, a signal ends the process at once, as a crash would; process 1 of a
 * container ignores signals without a handler. Returns a function that removes the handlers.
 */
export function endWhileStarting(): () => void {
  const end = (signal: keyof typeof CODES) => process.exit(CODES[signal]);
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => void process.off("SIGINT", end).off("SIGTERM", end);
}

/** The first signal ends the process in order; a second one, or too long a wait, at once. */
export function endOnSignals(log: Log, timeoutMs: number, close: () => Promise<void>): void {
  let isEnding = false;
  const end = (signal: keyof typeof CODES) => {
    if (isEnding) process.exit(CODES[signal]);
    isEnding = true;
    log("info", "Stopping", { signal });
    setTimeout(() => {
      log("warn", "Stopped before everything was closed", { timeoutMs });
      process.exit(CODES[signal]);
    }, Math.min(timeoutMs, 2 ** 31 - 1)).unref();
    close().then(() => process.exit(0), (cause) => {
      log("error", "Cannot stop in order", { cause: stackOf(cause) });
      process.exit(1);
    });
  };
  process.on("SIGINT", () => end("SIGINT"));
  process.on("SIGTERM", () => end("SIGTERM"));
}

/** Ends the process: calls acknowledged from now on would be lost with the files they are in. */
export function endOnLoss(log: Log, failure: Failure): never {
  log("error", failure.message, { code: failure.code });
  reportStartFailure(failure);
  process.exit(1);
}

export const BUG_CODE = 70;

/**
 * An uncaught error ends the process. Memory may then differ from the disk, and a server that
 * continued could acknowledge calls that were never written. Only the rows count (law 3): the next
 * start derives everything from them.
 */
export function endOnBugs(log: Log): void {
  const end = (cause: unknown) => {
    log("error", "Ending because of a bug", { cause: stackOf(cause) });
    process.exit(BUG_CODE);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
