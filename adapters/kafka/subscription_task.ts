import {
  deadLetterTopicOf,
  type KafkaCluster,
  type PlannedSubscription,
  type SubscriptionReport,
} from "../../src/model/kafka.ts";
import {
  effectiveOptions,
  ignoredOptions,
  isSecretOption,
  type Options,
} from "../../src/kafka/options.ts";
import { OWN as OWN_OPTIONS } from "../../src/kafka/option_table.ts";
import { isExpression, sourceOf, topicOf } from "../../src/kafka/source.ts";
import type { Log } from "../../src/ports.ts";
import { consume } from "./consuming.ts";
import { deleteGroup } from "./leaving.ts";
import { lookAround } from "./standing.ts";
import type { TokenOptions } from "./oauth.ts";
import { pause } from "./pause.ts";
import { Rules } from "./rules.ts";
import type { ServerApi } from "./server_api.ts";
import { SeenPartitions } from "./start_offsets.ts";
import { Status } from "./status.ts";

const RETRY_MS = { first: 300, last: 5_000 };

/** What a subscription is to do, as the plan has it. */
export interface Assigned {
  readonly planned: PlannedSubscription;
  /** Undefined: there is none of that name. */
  readonly cluster: KafkaCluster | undefined;
  readonly isScopeRead: boolean;
  /** Other subscriptions use its consumer group. */
  readonly isGroupShared: boolean;
}

/** What all subscriptions of a sidecar use. */
export interface Shared {
  readonly server: ServerApi;
  readonly log: Log;
  readonly tokens: TokenOptions;
  /** Something that is reported has changed. */
  readonly onChange: () => void;
}

/** One subscription: consumes, tries again when it cannot, and follows changes of the plan. */
export class SubscriptionTask {
  readonly status: Status;
  readonly rules: Rules;
  readonly shared: Shared;
  /** Set by what it does now: has blocked partitions try again. */
  retry: () => void = () => {};
  /** The id in the group of a consumer that has crashed. */
  memberId: string | undefined;
  readonly seen = new SeenPartitions();
  /** Its group has been deleted, as the plan wants it. */
  isGroupDeleted = false;
  /** Why its group is not deleted, though the plan wants it. Undefined: nothing is known to be wrong. */
  groupProblem: string | undefined;
  #assigned: Assigned;
  #life = new AbortController();
  #isClosed = false;
  readonly #done: Promise<void>;

  constructor(assigned: Assigned, shared: Shared) {
    this.#assigned = assigned;
    this.shared = shared;
    const { id } = assigned.planned;
    this.status = new Status(id, { ...shared, hide: (text) => hide(text, this.options) });
    this.rules = new Rules(assigned);
    const without = ignoredOptions(this.options);
    if (without.length > 0) {
      shared.log("warn", "Options have no effect", { subscription: id, without });
    }
    this.#done = this.#run();
  }

  get id(): string {
    return this.#assigned.planned.id;
  }

  get createdAt(): number {
    return this.#assigned.planned.createdAt;
  }

  /** Options in force. */
  get options(): Options {
    return optionsOf(this.#assigned);
  }

  get group(): string {
    return this.options["group.id"] ?? this.id;
  }

  /** The topic or the expression that it reads. */
  get topic(): string {
    return topicOf(this.#assigned.planned);
  }

  /** The topic of its dead letters. Undefined: there is none. */
  get letterTopic(): string | undefined {
    return deadLetterTopicOf(this.#assigned.planned.options);
  }

  get assigned(): Assigned {
    return this.#assigned;
  }

  /** Follows the plan. What concerns the connection begins a new consumer, anything else does not. */
  update(assigned: Assigned): void {
    const before = this.#assigned;
    this.#assigned = assigned;
    this.rules.update(assigned);
    if (connectionOf(before) !== connectionOf(assigned)) this.#life.abort();
    else if (JSON.stringify(before.planned) !== JSON.stringify(assigned.planned)) this.retry();
  }

  report(): SubscriptionReport {
    return this.status.report();
  }

  /** Commits and leaves the group. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#life.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isClosed;) {
      const { signal } = this.#life = new AbortController();
      const failed = await this.#live(signal, () => failures = 0);
      if (!failed || signal.aborted) failures = 0;
      else await pause(Math.min(RETRY_MS.last, RETRY_MS.first * 2 ** failures++), signal);
    }
  }

  /** Answers whether it failed. `onSuccess` is called when it works. */
  async #live(signal: AbortSignal, onSuccess: () => void): Promise<boolean> {
    const { planned, cluster, isGroupShared } = this.#assigned;
    try {
      if (!cluster) {
        throw new Error(`Kafka cluster '${sourceOf(planned).cluster}' not found`);
      }
      if (planned.isLeaving) await deleteGroup(this, { signal, isGroupShared });
      else if (planned.paused) await lookAround(this, signal);
      else await consume(this, { signal, onSuccess });
      return false;
    } catch (cause) {
      if (!signal.aborted) {
        this.status.failed(cause instanceof Error ? cause.message : String(cause));
        if (planned.isLeaving) this.groupProblem = this.status.report().lastError?.message;
      }
      return true;
    } finally {
      this.retry = () => {};
    }
  }
}

function optionsOf({ cluster, planned }: Assigned): Options {
  return effectiveOptions(cluster?.properties ?? {}, planned.options);
}

/** Whatever a running consumer cannot follow. */
function connectionOf(assigned: Assigned): string {
  const { planned, cluster, isGroupShared } = assigned;
  const { source, paused, isLeaving } = planned;
  const options = Object.entries(optionsOf(assigned)).filter(([name]) => !(name in OWN_OPTIONS));
  const leaving = isLeaving && { isGroupShared };
  // An expression does not mean the topic of the dead letters.
  const letters = isExpression(topicOf(planned)) && deadLetterTopicOf(planned.options);
  return JSON.stringify([source, cluster?.name, paused, leaving, letters, options.sort()]);
}

const HIDDEN_MIN = 3;

/** Brokers and endpoints may repeat what they were sent. */
function hide(text: string, options: Options): string {
  const secrets = Object.entries(options).filter(([name, value]) =>
    isSecretOption(name) && value.length >= HIDDEN_MIN
  );
  return secrets.reduce((shown, [, value]) => shown.replaceAll(value, "***"), text);
}
