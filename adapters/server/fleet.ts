import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import { fetchReader, type RequestReader } from "../../src/ingress/request_reader.ts";
import { hex } from "../../src/model/trace.ts";
import { Fleet, type FleetOptions } from "../../src/placement/fleet.ts";
import { sqlLedger } from "../../src/placement/membership.ts";
import type { Log } from "../../src/ports.ts";
import { PARTITION } from "../installation/databases.ts";
import { fleetPost } from "./fleet_post.ts";
import { openRemote, type Post } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import { clock } from "../platform/clock.ts";
import { random } from "../platform/random.ts";
import { stopwatch } from "../platform/stopwatch.ts";

/** What the rest of the process lends a fleet. */
export type FleetWithin =
  & Pick<FleetOptions, "hosts" | "registry" | "partitions" | "running">
  & {
    readonly log: Log;
    readonly store: { release(partition: number): Promise<void>; flushAll(): Promise<void> };
    readonly post?: Post | undefined;
    readonly reader?: RequestReader;
  };

const ID_BYTES = 8;
/** A heartbeat that is lost, and one that comes late, must not cost the lease. */
const HEARTBEATS_MIN = 3;
/** Heads, and what a parcel holds besides its largest message. */
const ENVELOPE_BYTES = 2 * 1024 * 1024;

/** Whether this process is one of several. Throws `Failure` RT0002 for settings that do not go together. */
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

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

/** Where the others reach a process that listens at `url`. */
export function addressOf(config: Config, url: string): string {
  return (config["fleet.advertised-address"] || url).replace(/\/+$/, "");
}

/**
 * One process of a fleet over a database server. Heartbeats go by a way of their own, so that they
 * wait for no commit, and are given up in time for another one.
 */
export function openFleet(config: Config, within: FleetWithin): Fleet {
  const { hosts, registry, running, store, log, partitions, post, reader = fetchReader } = within;
  const leaseMs = config["fleet.lease-duration"];
  const url = config["storage.database-url"].replaceAll(PARTITION, "0");
  const client = openRemote({
    ...remoteAddress(url, config["storage.auth-token"]),
    timeoutMs: Math.ceil(leaseMs / HEARTBEATS_MIN),
    ...(post && { post }),
  });
  return new Fleet({
    hosts,
    registry,
    partitions,
    running,
    flush: () => store.flushAll(),
    release: (partition) => store.release(partition),
    ledger: sqlLedger(client, partitions),
    post: fleetPost,
    secret: config["fleet.secret"],
    stopwatch,
    clock,
    log,
    newId: () => hex(random(ID_BYTES)),
    heartbeatMs: config["fleet.heartbeat-interval"],
    leaseMs,
    addressCheckMs: config["fleet.address-check-timeout"],
    forwardMs: config["fleet.forward-timeout"],
    reader,
    bytesMax: ENVELOPE_BYTES +
      Math.max(config["ingress.request-size-limit"], config["worker.invoker.message-size-limit"]),
  });
}
