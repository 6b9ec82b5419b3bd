import { byteSize, count } from "./kinds.ts";
import { option } from "./option.ts";

/** How much a partition does at once, and keeps in memory (law 5). */
export const partitionOptions = {
  "partition.turn-events-max": option(count(1), "1000", {
    doc:
      "Events of one turn; each message of an attempt counts. Further ones wait for the next turn.",
  }),
  "partition.release-effects-max": option(count(1), "32", {
    doc: "Effects carried out before further input is read, or a quarter of a longer backlog.",
  }),
  "partition.mailbox-events-max": option(count(1), "65536", {
    doc: "Events that may wait for a turn. Beyond it new requests are answered with 503.",
  }),
  "partition.resident-bytes-max": option(byteSize(), "32MiB", {
    doc: "The cache of rows of each partition. Beyond it, rows unused for longest are evicted.",
  }),
  "worker.kafka-inbox-limit": option(count(1), "10000", {
    doc:
      "Unfinished invocations of one Kafka subscription. Beyond it, its records wait in their topic. " +
      "Each partition of the data has its share, which those of a single key fill.",
  }),
  "partition.timers-max": option(count(1), "10000", {
    doc:
      "Timers kept in memory, the earliest ones. Later ones are read shortly before they are due.",
  }),
} as const;
