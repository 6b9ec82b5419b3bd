import type { Faults, Limits } from "./faults.ts";

/** Reads take long, commits do not hurry, and nothing stays in memory. */
export const COLD: Partial<Faults & Limits> = {
  loadMs: 20,
  commitMs: 20,
  residentBytesMax: 0,
  turnEventsMax: 1,
  eagerStateBytesMax: 0,
};

/** Every group is loaded in pages of a row, and most of it is not in memory. */
export const PAGED: Partial<Faults & Limits> = {
  pageRowsMax: 1,
  residentBytesMax: 4_000,
};

/** The partition often fails and its boot takes long. */
export const RESTARTS: Partial<Faults & Limits> = {
  loadMs: 300,
  commitMs: 2,
  batchLost: 0.1,
  readLost: 0.2,
  clockStepMs: 0,
};
