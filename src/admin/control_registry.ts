import { Failure } from "../errors.ts";
import type { ControlsChange } from "../model/controls.ts";
import type { Rule, ServiceControl } from "../model/limits.ts";
import { handlerIn } from "../model/schema.ts";
import { isQueueId } from "../model/queue.ts";
import type { Clock } from "../ports.ts";
import type { CatalogOwner } from "./catalog_owner.ts";
import { missing, missingHandler } from "./refusals.ts";
import { applyBatch, applyRemovals, type RuleEntry, type RuleRemoval } from "./rules/batch.ts";
import { changedHandler, type LimitChanges } from "./service_control.ts";

export interface ControlOptions {
  readonly clock: Pick<Clock, "now">;
  /** Rules of the book. Beyond it they are refused with 422. */
  readonly rulesMax: number;
  /** Virtual queues that are paused. Beyond it they are refused with 409. */
  readonly pausedQueuesMax: number;
}

const RULES = "change the rules";
const LIMITS = "change the limits of a handler";
const PAUSE_DEPLOYMENT = "pause or resume a deployment";
const PAUSE_QUEUE = "pause or resume a virtual queue";

/**
 * Changes what may run: rules, limits of handlers, pauses. Everything is durable, and in the snapshot,
 * when a method resolves. Each rejects with `Failure` 503 when the store fails.
 */
export class ControlRegistry {
  readonly #catalog: CatalogOwner;
  readonly #options: ControlOptions;

  constructor(catalog: CatalogOwner, options: ControlOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** As `applyBatch`, atomically. Resolves with the rule of each entry. */
  async upsertRules(entries: readonly RuleEntry[]): Promise<readonly Rule[]> {
    const { clock, rulesMax } = this.#options;
    return await this.#catalog.writing(RULES, async () => {
      const { rules: book } = this.#catalog.schema().controls;
      const batch = applyBatch(book, entries, { now: clock.now(), rulesMax });
      if (batch.book) await this.#catalog.control(RULES, { book: batch.book });
      return batch.rules;
    });
  }

  /** As `applyRemovals`, atomically. Resolves with the patterns whose rules there were. */
  async removeRules(removals: readonly RuleRemoval[]): Promise<readonly string[]> {
    return await this.#catalog.writing(RULES, async () => {
      const batch = applyRemovals(this.#catalog.schema().controls.rules, removals);
      if (batch.book) await this.#catalog.control(RULES, { book: batch.book });
      return batch.removed;
    });
  }

  /**
   * Changes the limits of one handler (docs/spec/admin.md#limits-of-services). Rejects with `Failure`
   * 404 for an unknown service or handler.
   */
  async changeHandler(service: string, handler: string, changes: LimitChanges): Promise<void> {
    await this.#catalog.writing(LIMITS, async () => {
      const { controls } = this.#catalog.schema();
      const latest = this.#catalog.schema().latest(service);
      if (!latest) throw missing("service", service);
      if (!handlerIn(latest, handler)) throw missingHandler(latest, handler);
      const before = controls.services.get(service);
      const after = changedHandler(before, handler, changes, this.#options.clock.now());
      const change = serviceChange(service, before, after);
      if (change) await this.#catalog.control(LIMITS, change);
    });
  }

  /** Pauses or resumes a deployment. Rejects with `Failure` 404 for one that is unknown. */
  async pauseDeployment(id: string, isPaused: boolean): Promise<void> {
    await this.#catalog.writing(PAUSE_DEPLOYMENT, async () => {
      const { deployments, controls } = this.#catalog.schema();
      if (!deployments.has(id)) throw missing("deployment", id);
      if (controls.pausedDeployments.has(id) === isPaused) return;
      await this.#catalog.control(PAUSE_DEPLOYMENT, { deployments: new Map([[id, isPaused]]) });
    });
  }

  /**
   * Pauses or resumes a virtual queue. An id that this server gives to no queue is ignored. Rejects
   * with `Failure` 409 when too many are paused.
   */
  async pauseQueue(id: string, isPaused: boolean): Promise<void> {
    if (!isQueueId(id)) return;
    const { pausedQueuesMax } = this.#options;
    await this.#catalog.writing(PAUSE_QUEUE, async () => {
      const { pausedQueues } = this.#catalog.schema().controls;
      if (pausedQueues.has(id) === isPaused) return;
      if (isPaused && pausedQueues.size >= pausedQueuesMax) throw tooMany(pausedQueuesMax);
      await this.#catalog.control(PAUSE_QUEUE, { queues: new Map([[id, isPaused]]) });
    });
  }
}

/** The change from one control of a service to another. Undefined: they are the same. */
export function serviceChange(
  name: string,
  before: ServiceControl | undefined,
  after: ServiceControl | undefined,
): ControlsChange | undefined {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
  return { services: new Map([[name, after]]) };
}

function tooMany(queuesMax: number): Failure {
  const hint = `resume one, or raise the setting "admin.paused-queues-limit"`;
  return Failure.plain(
    409,
    `Cannot pause the virtual queue: ${queuesMax} are paused already; ${hint}`,
  );
}
