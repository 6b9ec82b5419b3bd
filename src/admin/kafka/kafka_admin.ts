import type { IngestDeps } from "../../kafka/ingest.ts";
import type { KafkaStore } from "../../kafka_port.ts";
import type { Subscription } from "../../model/kafka.ts";
import { GONE_MS, statusOf, type SubscriptionStatus } from "../../kafka/status.ts";
import { sourceOf } from "../../kafka/source.ts";
import { hex } from "../../model/trace.ts";
import type { IngestCounts } from "../../observe/ingest_counts.ts";
import type { Clock, Log, Random } from "../../ports.ts";
import type { Registry } from "../registry.ts";
import { Failure } from "../../errors.ts";
import { DeadLetters, type DeadLettersOptions } from "./dead_letters.ts";
import { LeavingGroups } from "./leaving_groups.ts";
import { Ingestion } from "./ingestion.ts";
import { PlanFeed } from "./plan_feed.ts";
import { SidecarReports } from "./sidecar_reports.ts";

export interface KafkaAdminOptions extends Omit<IngestDeps, "soon"> {
  readonly registry: Registry;
  /** Absent: this process is alone, and forgets what sidecars report. */
  readonly store?: KafkaStore | undefined;
  /** The token of sidecars. Empty: one that is kept with the data. */
  readonly token: string;
  readonly letters: DeadLettersOptions["exchange"];
  readonly counts: IngestCounts;
  readonly clock: Pick<Clock, "now" | "at" | "soon">;
  readonly random: Random;
  readonly log: Log;
}

const TOKEN_BYTES = 32;
/** Between two requests for a plan a sidecar is at work, too, in milliseconds. */
const ASKING_MS = 1_000;

/** The server's end of sidecars: their plan, records and reports. */
export class KafkaAdmin {
  readonly feed: PlanFeed;
  readonly reports: SidecarReports;
  readonly ingestion: Ingestion;
  readonly letters: DeadLetters;
  readonly groups: LeavingGroups;
  readonly #options: KafkaAdminOptions;
  #token: Promise<string> | undefined;

  constructor(options: KafkaAdminOptions) {
    const { registry, clock, store, log, counts, isScopeRead } = options;
    const now = () => clock.now();
    this.#options = options;
    this.feed = new PlanFeed({ registry, clock, isScopeRead });
    this.reports = new SidecarReports({ registry: registry.kafka, store, counts, now, log });
    this.letters = new DeadLetters({
      exchange: options.letters,
      subscriptions: () => registry.kafka.subscriptions(),
    });
    this.groups = new LeavingGroups({
      isLeaving: (id) => registry.schema().controls.subscriptions.get(id)?.isLeaving === true,
      subscribe: (call) => void registry.subscribeAll(call),
      clock,
    });
    this.ingestion = new Ingestion({
      ...options,
      soon: (call) => clock.soon(call),
      schema: () => registry.schema(),
    });
  }

  /** The token that sidecars show. Rejects with `Failure` 503 when the store fails. */
  token(): Promise<string> {
    return this.#token ??= this.#readToken().catch((cause) => {
      this.#token = undefined;
      throw cause;
    });
  }

  /** Whether there is something to do for a sidecar. */
  isWanted(): boolean {
    return this.#options.registry.schema().controls.clusters.size > 0;
  }

  /** Calls `listener` when that may have changed. */
  subscribe(listener: () => void): void {
    this.#options.registry.subscribeAll(listener);
  }

  /** Whether a sidecar is at work: it waits for a plan, or has asked for one just now. */
  isServed(): boolean {
    return this.feed.isAsked || this.feed.askedAt > this.#options.clock.now() - ASKING_MS;
  }

  /** Whether some sidecar has reported of a subscription lately. Rejects with `Failure` 503. */
  async isFollowed({ id }: Subscription): Promise<boolean> {
    const reports = await this.reports.of(id);
    return this.isServed() || reports.some(({ at }) => at > this.#options.clock.now() - GONE_MS);
  }

  /** Ends requests that wait: the process ends. */
  end(): void {
    this.feed.end();
    this.groups.end();
  }

  /** How a subscription is. Rejects with `Failure` 503 when the store fails. */
  async statusOf(subscription: Subscription): Promise<SubscriptionStatus> {
    const reports = await this.reports.of(subscription.id);
    return this.#status(subscription, reports);
  }

  /** How all subscriptions are, as far as sidecars report to this process. */
  knownStatuses(): (readonly [Subscription, SubscriptionStatus])[] {
    const reports = [...this.reports.known()];
    return this.#options.registry.kafka.subscriptions().flatMap((one) => {
      const own = reports.filter(({ report }) => report.id === one.id);
      return own.length > 0 ? [[one, this.#status(one, own)] as const] : [];
    });
  }

  #status(
    subscription: Subscription,
    reports: Awaited<ReturnType<SidecarReports["of"]>>,
  ): SubscriptionStatus {
    const { registry, clock } = this.#options;
    const isLost = !registry.schema().controls.clusters.has(sourceOf(subscription).cluster);
    return statusOf(subscription, { reports, isLost, now: clock.now() });
  }

  async #readToken(): Promise<string> {
    const { token, store, random } = this.#options;
    if (token !== "") return token;
    const fresh = hex(random(TOKEN_BYTES));
    try {
      return await store?.token(fresh) ?? fresh;
    } catch (cause) {
      throw Failure.plain(503, "Cannot read the token of sidecars: the store fails", { cause });
    }
  }
}
