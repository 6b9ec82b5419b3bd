import { type Controls, type Rule, RuleBook, type ServiceControl } from "./limits.ts";

/** What operators have limited and paused, as it is stored: plain data, which JSON can hold. */
export interface StoredControls {
  /** The version of the rule book. */
  readonly version: number;
  readonly rules: readonly Rule[];
  readonly services: readonly (readonly [name: string, control: ServiceControl])[];
  /** Ids of paused deployments and virtual queues. */
  readonly deployments: readonly string[];
  readonly queues: readonly string[];
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
}

/** No rule, no limit, no pause. */
export const NOTHING_STORED: StoredControls = {
  version: 0,
  rules: [],
  services: [],
  deployments: [],
  queues: [],
};

/** The snapshot of stored controls. */
export function controlsOf(
  { version, rules, services, deployments, queues }: StoredControls,
): Controls {
  return {
    rules: new RuleBook(rules, version),
    services: new Map(services),
    pausedDeployments: new Set(deployments),
    pausedQueues: new Set(queues),
  };
}

/** The snapshot after a change. What does not change is the same object as before. */
export function changedControls(
  controls: Controls,
  { book, services, deployments, queues }: ControlsChange,
): Controls {
  return {
    rules: book ? changedBook(controls.rules, book) : controls.rules,
    services: services ? changedMap(controls.services, services) : controls.services,
    pausedDeployments: deployments
      ? changedSet(controls.pausedDeployments, deployments)
      : controls.pausedDeployments,
    pausedQueues: queues ? changedSet(controls.pausedQueues, queues) : controls.pausedQueues,
  };
}

/** Whether two snapshots say the same, also in what has no effect, such as descriptions. */
export function sameControls(a: Controls, b: Controls): boolean {
  return a === b ||
    a.rules.version === b.rules.version && sameRules(a.rules.rules, b.rules.rules) &&
      JSON.stringify(sorted(a.services)) === JSON.stringify(sorted(b.services)) &&
      sameSet(a.pausedDeployments, b.pausedDeployments) &&
      sameSet(a.pausedQueues, b.pausedQueues);
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

function sameRules(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a.length === b.length &&
    a.every((one, at) => JSON.stringify(one) === JSON.stringify(b[at]));
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((one) => b.has(one));
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => a < b ? -1 : 1);
}
