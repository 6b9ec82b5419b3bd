import { KafkaAdmin } from "./admin/kafka/kafka_admin.ts";
import { ChangeFeed } from "./admin/change_feed.ts";
import { admin } from "./admin/router.ts";
import { countPinned } from "./admin/pinned.ts";
import { Registry } from "./admin/registry.ts";
import { adminSettings, registrySettings, sidecarSettings } from "./admin/settings.ts";
import type { App, AppOptions } from "./app_options.ts";
import { type AttemptsByPartition, createHosts, fixedDirectory } from "./app_partitions.ts";
import { type Auth, openAuth } from "./auth/open_auth.ts";
import { authSettings } from "./auth/settings.ts";
import { schemaDefaults } from "./config/schema_defaults.ts";
import { ingress } from "./ingress/router.ts";
import { ingressSettings } from "./ingress/settings.ts";
import type { Readiness } from "./model/readiness.ts";
import { EXPOSITION_TYPE } from "./observe/exposition.ts";
import { mergedPages } from "./observe/merged_pages.ts";
import { Observation } from "./observe/observation.ts";
import { loggedDeployments } from "./observe/logged_deployments.ts";
import { observationSettings } from "./observe/settings.ts";
import { WaitReport } from "./observe/wait_report.ts";
import { discover } from "./outbound/discover.ts";
import { discoverOptions, type Endpoints, openEndpoints } from "./outbound/endpoints.ts";
import { applySerde } from "./outbound/serdes.ts";
import type { Hosts } from "./partition/hosts.ts";
import type { Directory } from "./placement/directory.ts";
import type { Fleet } from "./placement/fleet.ts";
import { Router } from "./placement/router.ts";
import type { Invocations } from "./ports.ts";
import type { Introspection, RunningAttempt } from "./query_port.ts";

/**
 * Wires everything, here and nowhere else: storage, then partitions, then the routes between them,
 * then the two interfaces. Resolves when the partitions have their leases and have derived every
 * effect from the rows. Rejects when the stores cannot be read, and with `Failure` RT0002 when tokens
 * or the key that signs requests cannot, and RT0038 when the server may not connect to an address of its
 * settings.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config } = options;
  const observation = new Observation({ ...options, ...observationSettings(config) });
  const endpoints = await openEndpoints(config, { ...options, ...options.platform });
  const auth = await openAuth(authSettings(config), { ...options.platform, ...options });
  const attempts: AttemptsByPartition = new Map();
  const running = () => [...attempts.values()].flatMap((some) => [...some.running()]);
  const fleet = options.fleet?.({ hosts: () => hosts, registry: () => registry, running });
  const introspection = introspectionOf(options, fleet);

  const registry = await openRegistry(options, { endpoints, fleet, introspection });

  const made = { observation, endpoints, auth, attempts, fleet, registry };
  const hosts: Hosts = createHosts(options, { ...made, directory: () => directory });
  const directory: Directory = fleet?.directory ?? fixedDirectory(options, hosts);
  registry.subscribe(() => hosts.controlsChanged());
  await hosts.open(fleet ? [] : options.here);

  const router = new Router(directory);
  const invocations = hosts.partitions === 1 ? directory.partitionClient(0) : router;
  const kafka = createKafka(options, { ...made, router });
  const changes = createChangeFeed(options, { registry, directory });
  const waits = createWaitReport(options, { introspection, hosts, running });
  const parts = { ...made, introspection, hosts, invocations, running, kafka, changes, waits };
  return {
    ingress: createIngress(options, parts),
    admin: createAdmin(options, parts),
    partitionClient: (partition) => hosts.partitionClient(partition),
    unready: () => hosts.unready(),
    metricsPage: () => metricsPage(parts),
    running,
    reload: () => registry.reload(),
    kafka,
    endWaits: () => endWaits(parts),
    close: () => close(options, parts),
  };
}

/** Everything that is wired, and what the interfaces are made of. */
interface Parts {
  readonly observation: Observation;
  readonly endpoints: Endpoints;
  /** Undefined: no token is asked for. */
  readonly auth: Auth | undefined;
  readonly attempts: AttemptsByPartition;
  /** Absent: this process serves all that it serves from the beginning. */
  readonly fleet: Fleet | undefined;
  readonly introspection: Introspection | undefined;
  readonly registry: Registry;
  readonly hosts: Hosts;
  readonly invocations: Invocations;
  readonly kafka: KafkaAdmin;
  readonly changes: ChangeFeed;
  /** Absent: waits are not logged. */
  readonly waits: WaitReport | undefined;
  /** The attempts of all partitions here that run at this moment. */
  readonly running: () => RunningAttempt[];
}

/** Answers queries: in a fleet, about what all processes have committed. */
function introspectionOf(
  { introspection }: AppOptions,
  fleet: Fleet | undefined,
): Introspection | undefined {
  return introspection && fleet ? fleet.introspecting(introspection) : introspection;
}

/** Loads the deployments. Their schema is what ingress, admin and attempts read. */
function openRegistry(
  options: AppOptions,
  { endpoints, fleet, introspection }: Pick<Parts, "endpoints" | "fleet" | "introspection">,
): Promise<Registry> {
  const { platform, config, deployments, version } = options;
  const { clock, random, log } = platform;
  const discovery = discoverOptions(config, endpoints, platform);
  return Registry.open(loggedDeployments(deployments, log), schemaDefaults(config), {
    clock,
    random,
    ...registrySettings(config),
    ...(introspection && { pinned: countPinned(introspection, version) }),
    ...(fleet && { announce: () => fleet.announce() }),
    discover: (request) => discover(request, discovery),
  });
}

/** What takes records from sidecars: any process does, for all partitions. */
function createKafka(
  { platform: { clock, random, log }, config, kafka }: AppOptions,
  { registry, observation, router }: Pick<Parts, "registry" | "observation"> & {
    readonly router: Router;
  },
): KafkaAdmin {
  return new KafkaAdmin({
    ...{ registry, clock, random, log, store: kafka },
    ...sidecarSettings(config),
    tracer: observation.tracer,
    counts: observation.watch.meter.ingested,
    take: (batch) => router.ingest(batch),
    letters: (request) => router.letters(request),
  });
}

/** What tells browsers of changes: of all partitions, wherever they are. */
function createChangeFeed(
  { platform: { clock } }: AppOptions,
  { registry, directory }: Pick<Parts, "registry"> & { readonly directory: Directory },
): ChangeFeed {
  return new ChangeFeed({
    clock,
    partitions: directory.partitions,
    changes: (partition, cursor, onLeave) =>
      directory.partitionClient(partition).changes(cursor, onLeave),
    subscribe: (call) => registry.subscribeAll(call),
  });
}

/** What logs why invocations wait. In a fleet the process with the first partition does it for all. */
function createWaitReport(
  { platform: { clock, log }, config, version, logsWaits = true }: AppOptions,
  { introspection, hosts, running }: Pick<Parts, "introspection" | "hosts" | "running">,
): WaitReport | undefined {
  const { waitsAfterMs: afterMs, isDetailed } = observationSettings(config);
  if (!introspection || !logsWaits || afterMs === Infinity) return undefined;
  const isHere = () => hosts.has(0);
  return new WaitReport({
    clock,
    log,
    introspection,
    version,
    running,
    isHere,
    afterMs,
    isDetailed,
  });
}

function createIngress(options: AppOptions, parts: Parts): App["ingress"] {
  const { config, version, reader } = options;
  const { registry, observation: { tracer, watch } } = parts;
  return ingress({
    ...interfaceOptions(options, parts),
    schema: () => registry.schema(),
    partitionChoice: { partitions: parts.hosts.partitions, here: options.here },
    tracer,
    version,
    authenticator: parts.auth?.ingress,
    ...ingressSettings(config),
    onResponse: (route, status) => watch.meter.requests.ingress.add(route, status),
    ...(reader && { reader }),
  });
}

function createAdmin(options: AppOptions, parts: Parts): App["admin"] {
  const { platform, config, version, ui } = options;
  const { endpoints, registry, introspection, fleet, running, observation, kafka, changes } = parts;
  const { requests } = observation.watch.meter;
  return admin({
    ...interfaceOptions(options, parts),
    soon: (call) => platform.clock.soon(call),
    idTokenKeys: () => endpoints.idTokens.published,
    registry,
    ...{ kafka, changes, auditStore: options.audit, addressOf: options.reader?.address },
    applySerde: (call) => applySerde(call, discoverOptions(config, endpoints, platform)),
    ...(introspection && { introspection }),
    ...(ui && { ui }),
    running,
    version,
    authenticator: parts.auth?.admin,
    sessions: parts.auth?.sessions,
    ...adminSettings(config, options),
    onResponse: (route, status) => requests.admin.add(route, status),
    ...(fleet && { members: () => fleet.members() }),
    metrics: () => metricsAnswer(options, parts),
  });
}

/** The page of metrics of this thread. */
function metricsPage({ registry, fleet, observation, kafka, hosts }: Parts): Promise<string> {
  const [schema, members] = [registry.schema(), fleet?.members()];
  return observation.page(hosts, { schema, members, subscriptions: kafka.knownStatuses() });
}

/** The page of metrics of all threads of the process. */
async function metricsAnswer({ otherThreads }: AppOptions, parts: Parts): Promise<Response> {
  const [own, others] = await Promise.all([metricsPage(parts), otherThreads?.metricsPages()]);
  const page = others ? mergedPages([own, ...others]) : own;
  return new Response(page, { headers: { "content-type": EXPOSITION_TYPE } });
}

/** What both interfaces need. */
function interfaceOptions(
  { platform: { clock, random, log }, certificateOf, otherThreads }: AppOptions,
  { invocations, fleet, hosts }: Parts,
) {
  const readiness: Readiness = async () => {
    const [here, elsewhere = []] = await Promise.all([hosts.unready(), otherThreads?.unready()]);
    return [...fleet?.unready() ?? [], ...here, ...elsewhere];
  };
  return { invocations, random, log, readiness, certificateOf, now: () => clock.now() };
}

async function close({ platform: { dial } }: AppOptions, parts: Parts): Promise<void> {
  parts.endpoints.close();
  parts.auth?.close();
  endWaits(parts);
  parts.waits?.stop();
  parts.hosts.close();
  await parts.observation.close();
  await dial.close();
}

/** Ends requests that would wait for long. */
function endWaits({ kafka, changes }: Parts): void {
  kafka.end();
  changes.end();
}
