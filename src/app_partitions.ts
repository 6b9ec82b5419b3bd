import type { Registry } from "./admin/registry.ts";
import type { AppOptions } from "./app_options.ts";
import type { PartitionRange } from "./model/ring.ts";
import type { Observation } from "./observe/observation.ts";
import { Attempts } from "./outbound/attempts.ts";
import type { Endpoints } from "./outbound/endpoints.ts";
import type { OutboundDeps } from "./outbound/options.ts";
import { Host } from "./partition/host.ts";
import { Hosts } from "./partition/hosts.ts";
import { partitionSettings } from "./partition/settings.ts";
import type { Directory } from "./placement/directory.ts";
import type { Fleet } from "./placement/fleet.ts";

/** The attempts of each partition, since it was last opened. */
export type AttemptsByPartition = Map<number, Attempts>;

/** What the partitions are made of. The directory is made after them. */
export interface HostParts {
  readonly observation: Observation;
  readonly endpoints: Endpoints;
  readonly attempts: AttemptsByPartition;
  /** Absent: this process serves all that it serves from the beginning. */
  readonly fleet: Fleet | undefined;
  readonly registry: Registry;
  readonly directory: () => Directory;
}

/** The partitions of this process. None is open yet. */
export function createHosts(options: AppOptions, parts: HostParts): Hosts {
  return new Hosts(options.partitions ?? 1, (range) => createHost(options, range, parts));
}

function createHost(options: AppOptions, range: PartitionRange, parts: HostParts): Host {
  const { platform: { clock, log }, config, store } = options;
  const { observation: { watch }, attempts, fleet, registry, directory } = parts;
  return new Host({
    range,
    store,
    clock,
    log,
    watch,
    schema: () => registry.schema(),
    sendBatch: async (to, batch) => await directory().partitionClient(to).deliver(batch),
    ...(fleet && {
      isHeld: () => fleet.isHeld(),
      onFenced: () => fleet.lost(range.partition),
    }),
    attempts: (send) => {
      const made = createAttempts(options, parts, send);
      attempts.set(range.partition, made);
      return made;
    },
    ...partitionSettings(config),
  });
}

/** `send` takes the events of the attempts to the mailbox of their partition. */
function createAttempts(
  { platform: { dial, clock, random, log } }: AppOptions,
  { endpoints, observation: { watch }, registry }: HostParts,
  send: OutboundDeps["send"],
): Attempts {
  const schema = () => registry.schema();
  const { outbound, shared } = endpoints;
  return new Attempts({ dial, clock, random, log, schema, send, ...shared, watch }, outbound);
}

/** Without a fleet a partition never moves: it lives here, or always remotely. */
export function fixedDirectory({ remotePartition }: AppOptions, hosts: Hosts): Directory {
  return {
    partitions: hosts.partitions,
    partitionClient: (partition) =>
      remotePartition && !hosts.has(partition)
        ? remotePartition(partition)
        : hosts.partitionClient(partition),
  };
}
