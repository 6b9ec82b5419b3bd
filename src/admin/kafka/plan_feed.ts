import { sha256 } from "@noble/hashes/sha2.js";
import { Failure } from "../../errors.ts";
import { sinkOf } from "../../kafka/source.ts";
import type { KafkaPlan, PlannedSubscription, Subscription } from "../../model/kafka.ts";
import type { Schema } from "../../model/schema.ts";
import type { ServiceType } from "../../model/target.ts";
import { hex } from "../../model/trace.ts";
import type { Clock } from "../../ports.ts";
import type { Registry } from "../registry.ts";

export interface PlanOptions {
  readonly registry: Pick<Registry, "schema" | "subscribeAll">;
  readonly clock: Pick<Clock, "now" | "at">;
  /** Whether headers of records may set scopes and limit keys. */
  readonly isScopeRead: boolean;
}

/** Requests that wait for another plan. */
const WAITERS_MAX = 100;

/** What sidecars are to do, and when it changes. */
export class PlanFeed {
  readonly #options: PlanOptions;
  readonly #waiters = new Set<() => void>();
  /** When a plan was last asked for, in milliseconds since the epoch. */
  askedAt = -Infinity;
  #plan: KafkaPlan | undefined;
  #isEnded = false;

  constructor(options: PlanOptions) {
    this.#options = options;
    options.registry.subscribeAll(() => {
      this.#plan = undefined;
      this.#wake();
    });
  }

  /** Whether a request waits for another plan. */
  get isAsked(): boolean {
    return this.#waiters.size > 0;
  }

  /** The plan. Secrets are in clear. */
  current(): KafkaPlan {
    const { registry, isScopeRead } = this.#options;
    return this.#plan ??= planOf(registry.schema(), isScopeRead);
  }

  /**
   * The plan once its version is not `known` any more, which may be at once. Undefined: it still is after
   * `waitMs`, or `leave` was aborted. `ended`: the process ends. Rejects with `Failure` 503 when too many
   * wait.
   */
  async after(
    known: string | undefined,
    waitMs: number,
    leave?: AbortSignal,
  ): Promise<KafkaPlan | "ended" | undefined> {
    const { clock } = this.#options;
    this.askedAt = clock.now();
    const until = this.askedAt + waitMs;
    for (;;) {
      if (this.#isEnded) return "ended";
      const plan = this.current();
      if (plan.version !== known) return plan;
      if (clock.now() >= until || leave?.aborted) return undefined;
      if (this.#waiters.size >= WAITERS_MAX) {
        throw Failure.plain(503, `Cannot wait for a plan: ${WAITERS_MAX} requests wait already`);
      }
      await this.#wait(until, leave);
    }
  }

  /** The process ends: no request waits any more. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  /** Resolves at a change, at `until`, or when the caller leaves. */
  #wait(until: number, leave: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        leave?.removeEventListener("abort", wake);
        this.#waiters.delete(wake);
        resolve();
      };
      const cancel = this.#options.clock.at(until, wake);
      leave?.addEventListener("abort", wake);
      this.#waiters.add(wake);
    });
  }
}

const SINK_TYPES: Readonly<Record<ServiceType, NonNullable<PlannedSubscription["sinkType"]>>> = {
  service: "service",
  virtual_object: "virtualObject",
  workflow: "workflow",
};

function planOf(schema: Schema, isScopeRead: boolean): KafkaPlan {
  const { clusters, subscriptions } = schema.controls;
  // In an order that is the same in every process.
  const plan = {
    isScopeRead,
    clusters: sorted(clusters),
    subscriptions: sorted(subscriptions).map((one) => planned(one, schema)),
  };
  const version = hex(sha256(new TextEncoder().encode(JSON.stringify(plan))).subarray(0, 16));
  return { version, ...plan };
}

function sorted<T>(all: ReadonlyMap<string, T>): T[] {
  return [...all].sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) => one);
}

function planned(subscription: Subscription, schema: Schema): PlannedSubscription {
  const { service: name, handler } = sinkOf(subscription);
  const service = schema.latest(name);
  const isThere = service && Object.hasOwn(service.handlers, handler);
  return isThere ? { ...subscription, sinkType: SINK_TYPES[service.type] } : subscription;
}
