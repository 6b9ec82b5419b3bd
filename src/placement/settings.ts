import type { Config } from "../config.ts";
import { Failure } from "../errors.ts";
import type { FleetOptions } from "./fleet.ts";

/** Heartbeats within a lease: one that is lost and one that is delayed must not end it. */
const HEARTBEATS_MIN = 3;
/** Bytes of a message besides its largest value. */
const ENVELOPE_BYTES = 2 * 1024 * 1024;

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

/** Whether this process is a member of a fleet. Throws `Failure` RT0002 for settings that conflict. */
export function isInFleet(config: Config): boolean {
  if (config["fleet.secret"] === "") return false;
  if (config["storage.database-url"] === "") {
    throw new Failure(
      "RT0002",
      `"fleet.secret" needs "storage.database-url": a fleet shares a database server`,
    );
  }
  if (WILDCARDS.has(config["fleet.bind-address"]) && config["fleet.advertised-address"] === "") {
    throw new Failure(
      "RT0002",
      `"fleet.advertised-address" is needed where "fleet.bind-address" is every address there is`,
    );
  }
  const heartbeatMs = config["fleet.heartbeat-interval"];
  if (config["fleet.lease-duration"] >= HEARTBEATS_MIN * heartbeatMs) return true;
  throw new Failure(
    "RT0002",
    `"fleet.lease-duration" must be at least ${HEARTBEATS_MIN} times "fleet.heartbeat-interval"`,
  );
}

/** How many partitions the settings give to new data; `open`: where they leave it open. */
export function namedPartitions(
  { "default-num-partitions": named }: Pick<Config, "default-num-partitions">,
  open = 1,
): number {
  return named || open;
}

/** The address at which other members reach a process that listens at `url`. */
export function addressOf(config: Config, url: string): string {
  return (config["fleet.advertised-address"] || url).replace(/\/+$/, "");
}

/** The settings of a fleet: secret, times and limits. */
export function fleetSettings(
  config: Config,
): Pick<
  FleetOptions,
  "secret" | "heartbeatMs" | "leaseMs" | "addressCheckMs" | "forwardMs" | "bytesMax"
> {
  return {
    secret: config["fleet.secret"],
    heartbeatMs: config["fleet.heartbeat-interval"],
    leaseMs: config["fleet.lease-duration"],
    addressCheckMs: config["fleet.address-check-timeout"],
    forwardMs: config["fleet.forward-timeout"],
    bytesMax: ENVELOPE_BYTES +
      Math.max(config["ingress.request-size-limit"], config["worker.invoker.message-size-limit"]),
  };
}

/** How long a heartbeat may take, in milliseconds: it ends in time for another one. */
export function heartbeatTimeoutMs(config: Config): number {
  return Math.ceil(config["fleet.lease-duration"] / HEARTBEATS_MIN);
}
