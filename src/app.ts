import { admin } from "./admin/router.ts";
import { countPinned } from "./admin/pinned.ts";
import { Registry } from "./admin/registry.ts";
import { adminSettings, registrySettings } from "./admin/settings.ts";
import type { Config } from "./config.ts";
import { schemaDefaults } from "./config/schema_defaults.ts";
import type { RequestReader } from "./ingress/request_reader.ts";
import { ingress } from "./ingress/router.ts";
import { ingressSettings } from "./ingress/settings.ts";
import type { Readiness } from "./model/readiness.ts";
import type { PartitionRange } from "./model/ring.ts";
import { Observation } from "./observe/observation.ts";
import { loggedDeployments } from "./observe/logged_deployments.ts";
import { observationSettings } from "./observe/settings.ts";
import { discover, DISCOVER_LIMITS, type DiscoverOptions } from "./outbound/discover.ts";
import { Attempts } from "./outbound/attempts.ts";
import { openIdentity, type RequestIdentity } from "./outbound/identity/identity.ts";
import { Functions } from "./outbound/lambda/functions.ts";
import type { OutboundOptions } from "./outbound/options.ts";
import { applySerde } from "./outbound/serdes.ts";
import { functionSettings, keySettings, outboundSettings } from "./outbound/settings.ts";
import { Host } from "./partition/host.ts";
import { Hosts } from "./partition/hosts.ts";
import { partitionSettings } from "./partition/settings.ts";
import type { Directory } from "./placement/directory.ts";
import type { Fleet, LocalHosts, SharedRegistry } from "./placement/fleet.ts";
import { Router } from "./placement/router.ts";
import type { DeploymentStore, PartitionClient, Platform, Store } from "./ports.ts";
import type { Introspection, RunningAttempt } from "./query_port.ts";

export interface AppOptions {
  readonly platform: Platform;
  readonly config: Config;
  readonly store: Store;
  /** How many partitions the data in the store was made for. 1 when absent. */
  readonly partitions?: number;
  /** Those of them that live here from the beginning. All when absent. */
  readonly here?: readonly number[];
  /** The way to the others. */
  readonly remotePartition?: (partition: number) => PartitionClient;
  /** Whoever brings partitions here, and takes them away, once it has joined. None is here before. */
  readonly fleet?: (within: FleetContext) => Fleet;
  readonly deployments: DeploymentStore;
  /** Who answers queries, where the platform can. */
  readonly introspection?: Introspection;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  /** A cheaper way to read requests, where the platform has one. */
  readonly reader?: RequestReader;
  /** Reads a file of text, where the platform has files. Rejects when it cannot be read. */
  readonly readTextFile?: (path: string) => Promise<string>;
}

/** What a fleet needs of the process it is made for. */
export interface FleetContext {
  readonly hosts: () => LocalHosts;
  readonly registry: () => SharedRegistry;
  readonly running: () => RunningAttempt[];
}

/** What every adapter serves: two Fetch handlers, and nothing of any runtime. */
export interface App {
  ingress(request: Request): Response | Promise<Response>;
  admin(request: Request): Response | Promise<Response>;
  /** The way to a partition that lives here. Throws `Failure` 503 when it does not. */
  partitionClient(partition: number): PartitionClient;
  /** Reads the deployments again, that somebody else may have changed. */
  reload(): Promise<void>;
  /** Stops attempts and answers whoever still waits with 503. The stores stay open. */
  close(): Promise<void>;
}

/**
 * Wires everything, here and nowhere else. Resolves when the partitions have their leases and have
 * derived every effect from the rows. Rejects when the stores cannot be read, and with `Failure`
 * RT0002 when the key that signs requests cannot.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { platform: { clock, random, log, dial }, config } = options;
  const observation = new Observation({ ...options, ...observationSettings(config) });
  const identity = await openIdentity(keySettings(config), { ...options, clock, log });
  const [signer, outbound] = [identity?.signer, outboundSettings(config)];
  const functions = new Functions(functionSettings(config), { dial, clock });
  const live: LiveAttempts = new Map();
  const running = () => [...live.values()].flatMap((attempts) => [...attempts.running()]);
  const fleet = options.fleet?.({ hosts: () => hosts, registry: () => registry, running });
  const introspection = introspectionOf(options, fleet);
  const parts = { outbound, signer, functions, fleet };
  const registry = await openRegistry(options, { ...parts, introspection });
  const schema = () => registry.schema();
  const { tracer } = observation;
  const { hosts, directory } = localPartitions(options, { ...parts, schema, observation, live });
  await hosts.open(fleet ? [] : options.here);
  const invocations = hosts.partitions === 1 ? directory.partitionClient(0) : new Router(directory);
  const readiness: Readiness = async () => [...fleet?.unready() ?? [], ...await hosts.unready()];
  const shared = { invocations, random, log, readiness, now: () => clock.now() };
  return {
    ingress: ingress({ ...shared, schema, tracer, ...ingressOptions(options, observation) }),
    admin: admin({
      ...shared,
      soon: (call) => clock.soon(call),
      registry,
      ...adminOptions(options, { fleet, observation }),
      applySerde: (call) => applySerde(call, discoverOptions(options, parts)),
      ...(introspection && { introspection }),
      running,
      metrics: () => observation.page(hosts, schema(), fleet?.members()),
    }),
    partitionClient: (partition) => hosts.partitionClient(partition),
    reload: () => registry.reload(),
    close: async () => {
      identity?.close();
      hosts.close();
      await Promise.all([observation.close(), dial.close()]);
    },
  };
}

function openRegistry(
  options: AppOptions,
  { fleet, introspection, ...within }:
    & Pick<
      SharedParts,
      "outbound" | "signer" | "functions" | "fleet"
    >
    & { readonly introspection: Introspection | undefined },
): Promise<Registry> {
  const { platform: { clock, random, log }, config, deployments } = options;
  const discovery = discoverOptions(options, within);
  return Registry.open(loggedDeployments(deployments, log), schemaDefaults(config), {
    clock,
    random,
    ...registering(options, introspection),
    ...(fleet && { announce: () => fleet.announce() }),
    discover: (request) => discover(request, discovery),
  });
}

/** How endpoints are asked what they serve, and for previews. */
function discoverOptions(
  { platform: { clock, dial }, config }: AppOptions,
  { outbound, signer, functions }: Pick<SharedParts, "outbound" | "signer" | "functions">,
): DiscoverOptions {
  const partsMax = config["admin.deployment-parts-limit"];
  return { ...DISCOVER_LIMITS, ...outbound, partsMax, signer, functions, dial, clock };
}

/** Whoever answers queries can count what needs a deployment. */
function registering({ config, version }: AppOptions, introspection: Introspection | undefined) {
  return {
    ...registrySettings(config),
    ...(introspection && { pinned: countPinned(introspection, version) }),
  };
}

/** The settings of ingress, how requests are read here, and who counts them. */
function ingressOptions({ config, version, reader }: AppOptions, { watch }: Observation) {
  const { ingress } = watch.meter.requests;
  return {
    version,
    ...ingressSettings(config),
    onResponse: (route: string, status: number) => ingress.add(route, status),
    ...(reader && { reader }),
  };
}

/** The settings of the admin interface, what it tells of the build and the fleet, and who counts. */
function adminOptions(
  { config, version }: AppOptions,
  { fleet, observation: { watch } }: Pick<SharedParts, "fleet" | "observation">,
) {
  const { admin } = watch.meter.requests;
  return {
    onResponse: (route: string, status: number) => admin.add(route, status),
    version,
    ...adminSettings(config),
    ...(fleet && { members: () => fleet.members() }),
  };
}

/** The attempts of each partition's current life. */
type LiveAttempts = Map<number, Attempts>;

/** Who answers queries: in a fleet, of what all processes have committed. */
function introspectionOf(
  { introspection }: AppOptions,
  fleet: Fleet | undefined,
): Introspection | undefined {
  return introspection && fleet ? fleet.introspecting(introspection) : introspection;
}

/** The partitions that live here, and the way to all of them. */
function localPartitions(
  options: AppOptions,
  within: SharedParts,
): { readonly hosts: Hosts; readonly directory: Directory } {
  const { partitions = 1, remotePartition } = options;
  const { fleet } = within;
  const hosts: Hosts = new Hosts(
    partitions,
    (range) => createHost(options, range, { ...within, directory }),
  );
  const directory: Directory = fleet?.directory ?? {
    partitions,
    partitionClient: (partition) =>
      remotePartition && !hosts.has(partition)
        ? remotePartition(partition)
        : hosts.partitionClient(partition),
  };
  return { hosts, directory };
}

/** What hosts share. */
interface SharedParts {
  readonly schema: () => ReturnType<Registry["schema"]>;
  readonly outbound: OutboundOptions;
  readonly signer: RequestIdentity["signer"] | undefined;
  readonly functions: Functions;
  readonly observation: Observation;
  readonly live: LiveAttempts;
  readonly fleet: Fleet | undefined;
}

function createHost(
  { platform, config, store }: AppOptions,
  range: PartitionRange,
  { schema, outbound, signer, functions, observation, live, directory, fleet }: SharedParts & {
    readonly directory: Directory;
  },
): Host {
  const { clock, random, log, dial } = platform;
  const { watch } = observation;
  return new Host({
    range,
    sendBatch: async (to, batch) => await directory.partitionClient(to).deliver(batch),
    ...(fleet && {
      isHeld: () => fleet.isHeld(),
      onFenced: () => fleet.lost(range.partition),
    }),
    store,
    clock,
    log,
    schema,
    watch,
    attempts: (send) => {
      const world = { dial, clock, random, log, schema, send, signer, functions, watch };
      const attempts = new Attempts(world, outbound);
      live.set(range.partition, attempts);
      return attempts;
    },
    ...partitionSettings(config),
  });
}
