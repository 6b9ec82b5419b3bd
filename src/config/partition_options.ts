import { byteSize, count } from "./kinds.ts";
import { option } from "./option.ts";

/** How much a partition does at once, and keeps in memory (law 5). */
export const partitionOptions = {
  "partition.turn-events-max": option(count(1), "1000", {
    doc: "Most events of a turn; each message of an attempt counts. Others wait for the next one.",
  }),
  "partition.release-effects-max": option(count(1), "32", {
    doc: "Most answers and attempts begun before further input is read. Of very many, a quarter.",
  }),
  "partition.mailbox-events-max": option(count(1), "65536", {
    doc: "Most events waiting for a turn. Beyond, new requests are answered with 503.",
  }),
  "partition.resident-bytes-max": option(byteSize(), "32MiB", {
    doc: "Rows each partition keeps in memory. Beyond, those unused for longest are read again.",
  }),
  "partition.timers-max": option(count(1), "10000", {
    doc: "Timers kept in memory, the earliest ones. The rest is read when their time is near.",
  }),
} as const;
