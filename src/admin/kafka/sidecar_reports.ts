import { assert } from "../../assert.ts";
import type { KafkaStore, MemberReport } from "../../kafka_port.ts";
import { GONE_MS } from "../../kafka/status.ts";
import type { RecordPlace, SidecarReport, SubscriptionReport } from "../../model/kafka.ts";
import type { IngestCounts } from "../../observe/ingest_counts.ts";
import { Failure } from "../../errors.ts";
import type { Log } from "../../ports.ts";
import type { KafkaRegistry } from "./kafka_registry.ts";

export interface ReportsOptions {
  readonly registry: Pick<KafkaRegistry, "settle">;
  /** What the processes of an installation share. Absent: this process is alone, and forgets all. */
  readonly store?: KafkaStore | undefined;
  readonly counts: Pick<IngestCounts, "addCommitFailures">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** Positions change all the time, so they are written this often, in milliseconds. */
const WRITE_MS = 10_000;
/** Sidecars of which this process keeps reports. */
const MEMBERS_MAX = 1000;
/** A sidecar that is gone is forgotten after so long, in milliseconds. */
const FORGET_MS = 24 * 60 * 60 * 1000;

/** Errors of one state that are logged. More come where records are skipped or blocked one by one. */
const ERRORS_MAX = 20;
const NOTHING: ReadonlySet<string> = new Set();

/** What this process knows of a sidecar. */
interface Member {
  readonly at: number;
  readonly reports: ReadonlyMap<string, SubscriptionReport>;
  /** What was logged of each subscription since it has its state. */
  readonly logged: ReadonlyMap<string, ReadonlySet<string>>;
  /** When its reports were written last. */
  writtenAt: number;
}

/**
 * The reports of sidecars: in memory, and in the store for other processes, where positions are up to
 * `WRITE_MS` old. What an operator looks for is written at once: states, errors, and what is stopped.
 */
export class SidecarReports {
  readonly #options: ReportsOptions;
  readonly #members = new Map<string, Member>();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** When a sidecar last reported to this process, in milliseconds since the epoch. */
  get heardAt(): number {
    return Math.max(-Infinity, ...[...this.#members.values()].map(({ at }) => at));
  }

  /** What sidecars have reported to this process, at most one of each for a subscription. */
  *known(): Generator<MemberReport> {
    for (const [member, { at, reports }] of this.#members) {
      for (const report of reports.values()) yield { member, at, report };
    }
  }

  /** Takes a report. Rejects with `Failure` 503 when the store fails; then it is to be sent again. */
  async take({ member, subscriptions, groupsDeleted = [] }: SidecarReport): Promise<void> {
    const { now, registry } = this.#options;
    const at = now();
    const before = this.#members.get(member);
    const reports = new Map(subscriptions.map((one) => [one.id, this.#counted(one)]));
    const after: Member = {
      at,
      reports,
      logged: this.#logChanges(member, before, reports),
      writtenAt: before?.writtenAt ?? -Infinity,
    };
    this.#members.delete(member);
    this.#forget(at);
    this.#members.set(member, after);
    await registry.settle(groupsDeleted, (id, place) => isPassed(reports.get(id), place));
    const isUrgent = before === undefined || shownOf(before.reports) !== shownOf(reports);
    if (isUrgent || at >= after.writtenAt + WRITE_MS) await this.#write(member, after);
  }

  /** The report without what is new in each. */
  #counted({ commitFailures = 0, ...report }: SubscriptionReport): SubscriptionReport {
    if (commitFailures > 0) this.#options.counts.addCommitFailures(report.id, commitFailures);
    return report;
  }

  /** What all sidecars have reported of one subscription. Rejects with `Failure` 503. */
  async of(subscription: string): Promise<MemberReport[]> {
    const stored = await this.#stored(subscription);
    // What this process knows counts unless another one was told later, also that there is nothing.
    const others = stored.filter(({ member, at }) => {
      const known = this.#members.get(member);
      return !known || known.at < at;
    });
    const told = new Set(others.map(({ member }) => member));
    const own = [...this.known()].filter(({ member, report }) =>
      report.id === subscription && !told.has(member)
    );
    return [...others, ...own];
  }

  async #stored(subscription: string): Promise<readonly MemberReport[]> {
    try {
      return await this.#options.store?.reports(subscription) ?? [];
    } catch (cause) {
      throw unreadable(cause);
    }
  }

  async #write(member: string, { at, reports }: Member): Promise<void> {
    try {
      await this.#options.store?.save(member, { all: [...reports.values()], at }, at - FORGET_MS);
    } catch (cause) {
      throw Failure.plain(503, "Cannot keep the report: the store cannot be written", { cause });
    }
    const known = this.#members.get(member);
    if (known) known.writtenAt = at;
  }

  /** Members are in the order of their last reports. */
  #forget(now: number): void {
    for (const [member, { at }] of this.#members) {
      if (at > now - GONE_MS && this.#members.size < MEMBERS_MAX) return;
      this.#members.delete(member);
    }
    assert(this.#members.size < MEMBERS_MAX, "There must be room for a member");
  }

  /**
   * Logs each state once, and each error of it: not with every report, nor again when another one was
   * there meanwhile. Answers what is logged now.
   */
  #logChanges(
    member: string,
    before: Pick<Member, "reports" | "logged"> | undefined,
    reports: ReadonlyMap<string, SubscriptionReport>,
  ): Member["logged"] {
    const logged = new Map<string, ReadonlySet<string>>();
    for (const [subscription, { state, lastError }] of reports) {
      const isSameState = before?.reports.get(subscription)?.state === state;
      const known = isSameState ? before.logged.get(subscription) : undefined;
      const isBad = state === "failing" || state === "blocked";
      const error = isBad ? lastError?.message : undefined;
      const isNew = !known?.has(error ?? "") && (known?.size ?? 0) < ERRORS_MAX;
      logged.set(subscription, isNew ? new Set([...known ?? [], error ?? ""]) : known ?? NOTHING);
      if (!isNew) continue;
      this.#options.log(isBad ? "warn" : "info", "A subscription has changed its state", {
        subscription,
        state,
        sidecar: member,
        ...(error !== undefined && { error }),
      });
    }
    return logged;
  }
}

function unreadable(cause: unknown): Failure {
  return Failure.plain(503, "Cannot show the state: the store cannot be read", { cause });
}

/** All but what changes with each record. */
function shownOf(reports: ReadonlyMap<string, SubscriptionReport>): string {
  return JSON.stringify([...reports.values()].map(({ id, state, lastError, partitions }) => [
    id,
    state,
    lastError?.message,
    partitions.map(({ topic, partition, stoppedBy }) => [topic, partition, stoppedBy]),
  ]));
}

/** Whether a sidecar reads beyond a record of a partition. */
function isPassed(
  report: SubscriptionReport | undefined,
  { topic, partition, offset }: RecordPlace,
): boolean {
  const position = report?.partitions.find((one) =>
    one.topic === topic && one.partition === partition
  )?.position;
  return position !== undefined && position > offset;
}
