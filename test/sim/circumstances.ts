import type { Faults, Limits } from "./faults.ts";

/** Reads take long, commits do not hurry, and nothing stays in memory. */
export const COLD: Partial<Faults & Limits> = {
  loadMs: 20,
  commitMs: 20,
  residentBytesMax: 0,
  turnEventsMax: 1,
  eagerStateBytesMax: 0,
};

/** The partition often fails and its boot takes long. */
export const RESTARTS: Partial<Faults & Limits> = {
  loadMs: 300,
  commitMs: 2,
  batchLost: 0.1,
  readLost: 0.2,
  clockStepMs: 0,
};
