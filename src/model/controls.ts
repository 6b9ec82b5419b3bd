import type { KafkaCluster, Subscription } from "./kafka.ts";
import { type Controls, type Rule, RuleBook, type ServiceControl } from "./limits.ts";

/** What operators have limited, paused and subscribed to, as it is stored: plain data, which JSON can hold. */
export interface StoredControls {
  /** The version of the rule book. */
  readonly version: number;
  readonly rules: readonly Rule[];
  readonly services: readonly (readonly [name: string, control: ServiceControl])[];
  /** Ids of paused deployments and virtual queues. */
  readonly deployments: readonly string[];
  readonly queues: readonly string[];
  /** Secrets are in clear. */
  readonly clusters: readonly KafkaCluster[];
  readonly subscriptions: readonly Subscription[];
}

/** Changes that are applied together. Absent: as it is. */
export interface ControlsChange {
  /** The rule book: its new version, and rules by pattern. Undefined: the rule is removed. */
  readonly book?: {
    readonly version: number;
    readonly rules: ReadonlyMap<string, Rule | undefined>;
  };
  /** By name. Undefined: nothing is limited or paused any more. */
  readonly services?: ReadonlyMap<string, ServiceControl | undefined>;
  /** Whether a deployment or a virtual queue is paused, by its id. */
  readonly deployments?: ReadonlyMap<string, boolean>;
  readonly queues?: ReadonlyMap<string, boolean>;
  /** Kafka clusters by name, subscriptions by id. Undefined: it is removed. */
  readonly clusters?: ReadonlyMap<string, KafkaCluster | undefined>;
  readonly subscriptions?: ReadonlyMap<string, Subscription | undefined>;
}

/** No rule, no limit, no pause, no subscription. */
export const NOTHING_STORED: StoredControls = {
  version: 0,
  rules: [],
  services: [],
  deployments: [],
  queues: [],
  clusters: [],
  subscriptions: [],
};

/** The snapshot of stored controls. */
export function controlsOf(
  { version, rules, services, deployments, queues, clusters, subscriptions }: StoredControls,
): Controls {
  return {
    rules: new RuleBook(rules, version),
    services: new Map(services),
    pausedDeployments: new Set(deployments),
    pausedQueues: new Set(queues),
    clusters: new Map(clusters.map((one) => [one.name, one])),
    subscriptions: new Map(subscriptions.map((one) => [one.id, one])),
  };
}

/** The snapshot after a change. What does not change is the same object as before. */
export function changedControls(
  controls: Controls,
  { book, services, deployments, queues, clusters, subscriptions }: ControlsChange,
): Controls {
  return {
    rules: book ? changedBook(controls.rules, book) : controls.rules,
    services: services ? changedMap(controls.services, services) : controls.services,
    pausedDeployments: deployments
      ? changedSet(controls.pausedDeployments, deployments)
      : controls.pausedDeployments,
    pausedQueues: queues ? changedSet(controls.pausedQueues, queues) : controls.pausedQueues,
    clusters: clusters ? changedMap(controls.clusters, clusters) : controls.clusters,
    subscriptions: subscriptions
      ? changedMap(controls.subscriptions, subscriptions)
      : controls.subscriptions,
  };
}

/**
 * The snapshot `read`, with the objects of `known` for what says the same, also in what has no effect,
 * such as descriptions. It is `known` when nothing differs.
 */
export function keptControls(known: Controls, read: Controls): Controls {
  const kept: Controls = {
    rules: sameBook(known.rules, read.rules) ? known.rules : read.rules,
    services: keptMap(known.services, read.services),
    pausedDeployments: keptSet(known.pausedDeployments, read.pausedDeployments),
    pausedQueues: keptSet(known.pausedQueues, read.pausedQueues),
    clusters: keptMap(known.clusters, read.clusters),
    subscriptions: keptMap(known.subscriptions, read.subscriptions),
  };
  const isKnown = sameFlow(known, kept) && known.clusters === kept.clusters &&
    known.subscriptions === kept.subscriptions;
  return isKnown ? known : kept;
}

/** Whether two snapshots have the same objects for what limits and pauses invocations. */
export function sameFlow(a: Controls, b: Controls): boolean {
  return a.rules === b.rules && a.services === b.services &&
    a.pausedDeployments === b.pausedDeployments && a.pausedQueues === b.pausedQueues;
}

function changedBook(
  before: RuleBook,
  { version, rules }: NonNullable<ControlsChange["book"]>,
): RuleBook {
  const all = new Map(before.rules.map((rule) => [rule.pattern, rule]));
  return new RuleBook([...changedMap(all, rules).values()], version);
}

function changedMap<T>(
  before: ReadonlyMap<string, T>,
  change: ReadonlyMap<string, T | undefined>,
): ReadonlyMap<string, T> {
  const after = new Map(before);
  for (const [name, value] of change) {
    if (value === undefined) after.delete(name);
    else after.set(name, value);
  }
  return after;
}

function changedSet(
  before: ReadonlySet<string>,
  change: ReadonlyMap<string, boolean>,
): ReadonlySet<string> {
  const after = new Set(before);
  for (const [name, isIn] of change) {
    if (isIn) after.add(name);
    else after.delete(name);
  }
  return after;
}

function sameBook(a: RuleBook, b: RuleBook): boolean {
  return a.version === b.version && a.rules.length === b.rules.length &&
    a.rules.every((one, at) => JSON.stringify(one) === JSON.stringify(b.rules[at]));
}

function keptSet(known: ReadonlySet<string>, read: ReadonlySet<string>): ReadonlySet<string> {
  const isSame = known.size === read.size && [...known].every((one) => read.has(one));
  return isSame ? known : read;
}

function keptMap<T>(
  known: ReadonlyMap<string, T>,
  read: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  const isSame = known.size === read.size &&
    [...known].every(([name, one]) => JSON.stringify(one) === JSON.stringify(read.get(name)));
  return isSame ? known : read;
}
