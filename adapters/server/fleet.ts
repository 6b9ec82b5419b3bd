import type { Config } from "../../src/config.ts";
import { fetchReader, type RequestReader } from "../../src/ingress/request_reader.ts";
import { hex } from "../../src/model/trace.ts";
import { Fleet, type FleetOptions } from "../../src/placement/fleet.ts";
import { sqlMembership } from "../../src/placement/membership.ts";
import { fleetSettings, heartbeatTimeoutMs } from "../../src/placement/settings.ts";
import type { Log, SqlClient } from "../../src/ports.ts";
import { PARTITION } from "../installation/databases.ts";
import { fleetPost } from "./fleet_post.ts";
import { openRemote, type Post } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import type { OutgoingTls } from "../tls/outgoing.ts";
import { clock } from "../platform/clock.ts";
import { random } from "../platform/random.ts";
import { stopwatch } from "../platform/stopwatch.ts";

/** What a fleet needs of the rest of the process. */
export type FleetContext =
  & Pick<FleetOptions, "hosts" | "registry" | "partitions" | "running">
  & {
    readonly log: Log;
    readonly store: { release(partition: number): Promise<void>; flushAll(): Promise<void> };
    /** Of `openHeartbeats`. */
    readonly heartbeats: SqlClient;
    /** The certificates by which processes know each other. `outgoing` absent: those of the system. */
    readonly tls: { readonly outgoing?: OutgoingTls };
    readonly reader?: RequestReader;
  };

const ID_BYTES = 8;

/**
 * The client of the heartbeats of a fleet: of its own, so that they wait for no commit, with a timeout
 * that leaves time for another one.
 */
export async function openHeartbeats(config: Config, post: Post | undefined): Promise<SqlClient> {
  const url = config["storage.database-url"].replaceAll(PARTITION, "0");
  return await openRemote({
    ...remoteAddress(url, config["storage.auth-token"]),
    timeoutMs: heartbeatTimeoutMs(config),
    ...(post && { post }),
  });
}

/** One process of a fleet over a database server. */
export function openFleet(config: Config, within: FleetContext): Fleet {
  const { hosts, registry, running, store, log, partitions, tls, reader = fetchReader } = within;
  return new Fleet({
    hosts,
    registry,
    partitions,
    running,
    flush: () => store.flushAll(),
    release: (partition) => store.release(partition),
    membership: sqlMembership(within.heartbeats, partitions),
    post: fleetPost(tls.outgoing),
    ...fleetSettings(config),
    joinMs: config["storage.retry-timeout"],
    stopwatch,
    clock,
    log,
    newId: () => hex(random(ID_BYTES)),
    reader,
  });
}
