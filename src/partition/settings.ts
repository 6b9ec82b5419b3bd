import type { Config } from "../config.ts";
import type { HostOptions } from "./life.ts";

/** How much a partition does at once and keeps in memory, and how often it deletes what expired. */
export function partitionSettings(
  config: Config,
): Pick<
  HostOptions,
  | "turnEventsMax"
  | "releaseEffectsMax"
  | "mailboxEventsMax"
  | "residentBytesMax"
  | "priorityAgingMs"
  | "subscriptionInboxMax"
  | "timersMax"
  | "cleanupIntervalMs"
> {
  return {
    turnEventsMax: config["partition.turn-events-max"],
    releaseEffectsMax: config["partition.release-effects-max"],
    mailboxEventsMax: config["partition.mailbox-events-max"],
    residentBytesMax: config["partition.resident-bytes-max"],
    priorityAgingMs: config["worker.invoker.priority-aging"],
    subscriptionInboxMax: config["worker.kafka-inbox-limit"],
    timersMax: config["partition.timers-max"],
    cleanupIntervalMs: config["worker.cleanup-interval"],
  };
}
