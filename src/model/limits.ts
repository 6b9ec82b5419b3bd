import type { KafkaCluster, Subscription } from "./kafka.ts";

/** The most that may be started in a time: a token bucket. */
export interface Rate {
  /** Starts in each period: 1 … `RATE_COUNT_MAX`. */
  readonly count: number;
  /** Milliseconds: 1 … `RATE_PERIOD_MS_MAX`. */
  readonly periodMs: number;
  /** Starts that an idle bucket allows at once: 1 … `RATE_COUNT_MAX`. Absent: `count`. */
  readonly burst?: number;
}

/** What may run of one scope, limit key, service or handler. Absent: unlimited. */
export interface Limits {
  /** Invocations that may run at once: 1 … `CONCURRENCY_MAX`. */
  readonly concurrency?: number;
  readonly rate?: Rate;
}

/**
 * Limits of a service or a handler, which all partitions share. By their times partitions know whether
 * what they may run was counted under these limits (decision 079). Milliseconds since the epoch; absent:
 * they were set by an earlier release.
 */
export interface SharedLimits extends Limits {
  /** When concurrency became limited. */
  readonly limitedAt?: number;
  /** When something became limited or was lowered. Later than any such time of the service before. */
  readonly tightenedAt?: number;
}

export const CONCURRENCY_MAX = 2 ** 32 - 1;
export const RATE_COUNT_MAX = 2 ** 32 - 1;
export const RATE_PERIOD_MS_MAX = 30 * 24 * 60 * 60 * 1000;

/** A rule of the rule book (docs/spec/admin.md#rules). */
export interface Rule {
  /** In canonical form: one to three components separated by slashes, each exact or `*`. */
  readonly pattern: string;
  readonly limits: Limits;
  /** It is stored, and has no effect. */
  readonly disabled: boolean;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly description?: string;
}

/** What an operator has set of a service, whichever deployments serve it. */
export interface ServiceControl {
  /** No invocation of it starts or goes on. */
  readonly paused?: true;
  readonly limits?: SharedLimits;
  /** By handler. */
  readonly handlers?: Readonly<Record<string, SharedLimits>>;
  /** The latest `tightenedAt` of its limits. It stays when they are removed, so that times are in order. */
  readonly tightenedAt?: number;
}

/** Everything that operators have set about what may run and where it comes from. An immutable snapshot. */
export interface Controls {
  readonly rules: RuleBook;
  readonly services: ReadonlyMap<string, ServiceControl>;
  /** Ids of the paused deployments. */
  readonly pausedDeployments: ReadonlySet<string>;
  /** Ids of the paused virtual queues (`queue.ts`). */
  readonly pausedQueues: ReadonlySet<string>;
  /** Kafka clusters by name. They and subscriptions do not concern flow control. */
  readonly clusters: ReadonlyMap<string, KafkaCluster>;
  /** By id. */
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}

/** Results that a rule book remembers, before it forgets all of them. */
const REMEMBERED_MAX = 100_000;

/** All rules, and which of them applies. */
export class RuleBook {
  /** In order of their patterns. */
  readonly rules: readonly Rule[];
  /** Grows with every batch that changes something. 0: there has never been a rule. */
  readonly version: number;
  readonly #byPattern: ReadonlyMap<string, Rule>;
  readonly #found = new Map<string, Rule | undefined>();

  constructor(rules: readonly Rule[], version: number) {
    this.rules = [...rules].sort((a, b) => a.pattern < b.pattern ? -1 : 1);
    this.version = version;
    this.#byPattern = new Map(this.rules.map((rule) => [rule.pattern, rule]));
  }

  get(pattern: string): Rule | undefined {
    return this.#byPattern.get(pattern);
  }

  /**
   * The rule for a counter: of a scope (`a`), or of a limit key within it (`a/b`, `a/b/c`). Only rules
   * of the same depth apply. Of several the one with the most exact components wins, where the scope
   * counts more than both levels, and the first level more than the second
   * (docs/spec/admin.md#rules). Disabled rules are skipped.
   */
  ruleOf(counter: string): Rule | undefined {
    if (this.rules.length === 0) return undefined;
    const known = this.#found.get(counter);
    if (known || this.#found.has(counter)) return known;
    if (this.#found.size >= REMEMBERED_MAX) this.#found.clear();
    const rule = this.#find(counter.split("/"));
    this.#found.set(counter, rule);
    return rule;
  }

  #find(components: readonly string[]): Rule | undefined {
    // The bits of a rank, from the highest: exact scope, exact first level, exact second level.
    for (let rank = 2 ** components.length - 1; rank >= 0; rank--) {
      const isExact = (level: number) => rank & 2 ** (components.length - 1 - level);
      const pattern = components.map((one, level) => isExact(level) ? one : "*").join("/");
      const rule = this.#byPattern.get(pattern);
      if (rule && !rule.disabled) return rule;
    }
    return undefined;
  }
}

/** Nothing is limited, paused or subscribed to. */
export const NO_CONTROLS: Controls = {
  rules: new RuleBook([], 0),
  services: new Map(),
  pausedDeployments: new Set(),
  pausedQueues: new Set(),
  clusters: new Map(),
  subscriptions: new Map(),
};
