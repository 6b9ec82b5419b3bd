import { type KafkaPlan, REPORT_MS } from "../../src/model/kafka.ts";
import { sourceOf } from "../../src/kafka/source.ts";
import type { Log } from "../../src/ports.ts";
import type { TokenOptions } from "./oauth.ts";
import { LetterCarrier } from "./letter_carrier.ts";
import { pause } from "./pause.ts";
import type { ServerApi } from "./server_api.ts";
import { type Assigned, type Shared, SubscriptionTask } from "./subscription_task.ts";

export interface SidecarOptions {
  readonly server: ServerApi;
  /** Names this sidecar among several. */
  readonly member: string;
  readonly log: Log;
  readonly tokens: TokenOptions;
  /** The server has ended in order, and wants its sidecar to end as well. */
  readonly onServerEnded?: () => void;
}

const REPORTS_APART_MS = 1_000;
const PLAN_RETRY_MS = { first: 100, last: 1_000 };

/** Follows the plan of a server: one task for each subscription, and reports on them. */
export class KafkaSidecar {
  readonly #options: SidecarOptions;
  readonly #shared: Shared;
  readonly #closed = new AbortController();
  readonly #tasks = new Map<string, SubscriptionTask>();
  /** Tasks of subscriptions that are no more, until they have left their groups. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #letters: LetterCarrier;
  #wake: () => void = () => {};
  #isChanged = true;
  #isServerAway = false;

  constructor(options: SidecarOptions) {
    this.#options = options;
    const onChange = () => {
      this.#isChanged = true;
      this.#wake();
    };
    this.#shared = { ...options, onChange };
    const { signal } = this.#closed;
    this.#letters = new LetterCarrier({ server: options.server, tasks: this.#tasks, signal });
  }

  /** Works until it is closed. */
  async run(): Promise<void> {
    await Promise.all([this.#followPlan(), this.#reportChanges(), this.#letters.run()]);
  }

  /** Commits and leaves all groups. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#wake();
    const closing = [...this.#tasks.values()].map((task) => task.close());
    await Promise.all([...closing, ...this.#leaving.values()]);
  }

  async #followPlan(): Promise<void> {
    const { signal } = this.#closed;
    const { server } = this.#options;
    let version: string | undefined;
    for (let failures = 0; !signal.aborted;) {
      const planned = await server.plan(version, signal);
      if (planned === undefined) continue;
      if (planned === "ended") return this.#options.onServerEnded?.();
      if ("problem" in planned) {
        this.#serverIsAway(planned.problem);
        const { first, last } = PLAN_RETRY_MS;
        await pause(Math.min(last, first * 2 ** failures++), signal);
        continue;
      }
      failures = 0;
      this.#serverIsBack();
      version = planned.version;
      this.#apply(planned);
    }
  }

  /** Logged once. Consumers stay in their groups, and keep what they have read. */
  #serverIsAway(problem: string): void {
    if (this.#closed.signal.aborted) return;
    if (!this.#isServerAway) this.#options.log("warn", "There is no plan", { cause: problem });
    this.#isServerAway = true;
  }

  #serverIsBack(): void {
    if (this.#isServerAway) this.#options.log("info", "There is a plan again");
    this.#isServerAway = false;
    // A server that has just begun knows nothing, and would start another sidecar.
    this.#shared.onChange();
  }

  #apply(plan: KafkaPlan): void {
    if (this.#closed.signal.aborted) return;
    const assigned = assignedOf(plan);
    for (const [id, task] of this.#tasks) {
      if (!assigned.has(id)) this.#drop(id, task);
    }
    for (const [id, one] of assigned) {
      const task = this.#tasks.get(id);
      if (task) task.update(one);
      else this.#tasks.set(id, new SubscriptionTask(one, this.#shared));
    }
    this.#letters.wake();
  }

  #drop(id: string, task: SubscriptionTask): void {
    this.#tasks.delete(id);
    this.#leaving.set(id, task.close().finally(() => this.#leaving.delete(id)));
    this.#shared.onChange();
  }

  /** When something has changed, though not at once again, and else from time to time. */
  async #reportChanges(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      this.#isChanged = false;
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await this.#tell(signal);
      await pause(REPORTS_APART_MS, signal);
      if (!this.#isChanged) await pause(REPORT_MS - REPORTS_APART_MS, woken.signal);
    }
  }

  async #tell(signal: AbortSignal): Promise<void> {
    const report = this.#report();
    if (!await this.#options.server.report(report, signal)) return;
    for (const one of report.subscriptions) this.#tasks.get(one.id)?.status.reported(one);
  }

  #report() {
    const tasks = [...this.#tasks.values()];
    const groupsDeleted = tasks.filter((task) => task.isGroupDeleted).map(({ id }) => id);
    const groupsKept = tasks.flatMap(({ id, groupProblem }) =>
      groupProblem === undefined ? [] : [{ id, message: groupProblem }]
    );
    return {
      member: this.#options.member,
      subscriptions: tasks.filter((task) => !task.assigned.planned.isLeaving).map((task) =>
        task.report()
      ),
      ...(groupsDeleted.length > 0 && { groupsDeleted }),
      ...(groupsKept.length > 0 && { groupsKept }),
    };
  }
}

function assignedOf(plan: KafkaPlan): ReadonlyMap<string, Assigned> {
  const clusters = new Map(plan.clusters.map((cluster) => [cluster.name, cluster]));
  const uses = new Map<string, number>();
  for (const one of plan.subscriptions) {
    if (!one.isLeaving) uses.set(placeOf(one), (uses.get(placeOf(one)) ?? 0) + 1);
  }
  return new Map(plan.subscriptions.map((planned): [string, Assigned] => [planned.id, {
    planned,
    cluster: clusters.get(sourceOf(planned).cluster),
    isScopeRead: plan.isScopeRead ?? false,
    isGroupShared: uses.has(placeOf(planned)),
  }]));
}

/** A group of a cluster. */
function placeOf(planned: KafkaPlan["subscriptions"][number]): string {
  return JSON.stringify([sourceOf(planned).cluster, planned.options["group.id"]]);
}
