import { setImmediate } from "node:timers";
import type { Admin, Consumer, EachBatchPayload } from "kafkajs";
import { offsetResetOf, type Options } from "../../src/kafka/options.ts";
import { everyAligned } from "./aligned.ts";
import { assignersOf } from "./assigners.ts";
import { type Client, FETCH_WAIT_MS, numberOf } from "./client.ts";
import { Commits } from "./commits.ts";
import { Committed } from "./committed.ts";
import type { Feed } from "./feed.ts";
import { Feeds } from "./feeds.ts";
import type { Group, GroupHooks } from "./kafkajs_patches.ts";
import { within } from "./pause.ts";
import { NoOffset, resetPositions, type Starts } from "./start_offsets.ts";

/** Shorter than librdkafka's 45 s: the time until others take over from a member that has died. */
const SESSION_MS = 10_000;
const HEARTBEAT_MAX_MS = 5_000;
/** Of a session: three may be lost, or come late. */
const HEARTBEATS = 3;
/** A timer may come a little early. */
const EARLY = 0.8;
const REBALANCE_MS = 60_000;
const COMMIT_MS = 5_000;
const METADATA_MS = 300_000;
/** While a partition stands: it comes back with the next fetch. */
const FETCH_WAIT_STANDING_MS = 200;
const FETCH_BYTES = 1_048_576;
const FETCH_TOTAL_BYTES = 10_485_760;
/** Partitions of a subscription whose records are handed over at once. */
const AT_ONCE = 8;
const CLOSE_MS = 5_000;
const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 };

export interface ConsumerOptions {
  readonly client: Client;
  readonly group: string;
  readonly options: Options;
  /** When the subscription was created. */
  readonly createdAt: number;
  readonly topics: readonly string[];
  readonly starts: Starts;
  readonly deliver: (payload: EachBatchPayload, feed: Feed) => Promise<void>;
  /** It has joined its group: maybe again. */
  readonly onJoin: () => void;
  readonly onChange: () => void;
  /** Something that is worth a look, though it goes on. */
  readonly onProblem: (message: string) => void;
  /** As `onProblem`, where offsets are not committed. */
  readonly onCommitFailure: (message: string) => void;
  /** The id in the group of the consumer before, if that one has crashed. */
  readonly memberId: string | undefined;
}

/** One life of a consumer: from joining the group to its end, or until it crashes. */
export class TopicConsumer {
  readonly feeds: Feeds;
  readonly #options: ConsumerOptions;
  readonly #consumer: Consumer;
  readonly #heartbeatMs: number;
  readonly #commits: Commits;
  readonly #crashed: Promise<Error>;
  #crash!: (cause: Error) => void;
  #group: Group | undefined;
  #isClosed = false;
  readonly #ends: (() => void)[] = [];
  memberId: string | undefined;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.feeds = new Feeds(options.starts);
    this.memberId = options.memberId;
    const session = numberOf(options.options, "session.timeout.ms", SESSION_MS);
    const share = Math.max(1, Math.min(HEARTBEAT_MAX_MS, Math.floor(session / HEARTBEATS)));
    // Given rarer, or by the cluster for a session that the subscription makes shorter, it would not stay.
    this.#heartbeatMs = Math.min(numberOf(options.options, "heartbeat.interval.ms", share), share);
    this.#crashed = new Promise((resolve) => this.#crash = resolve);
    this.#consumer = options.client.kafka.consumer(this.#config(session));
    this.#commits = new Commits({
      feeds: this.feeds,
      send: (offsets) => this.#consumer.commitOffsets(offsets),
      onFailure: (message) => this.#isClosed || options.onCommitFailure(message),
    });
  }

  #config(sessionTimeout: number) {
    const { options, group } = this.#options;
    const number = (name: string, otherwise: number) => numberOf(options, name, otherwise);
    const refresh = number("topic.metadata.refresh.interval.ms", METADATA_MS);
    return {
      groupId: group,
      partitionAssigners: assignersOf(options, this.#hooks()),
      sessionTimeout,
      rebalanceTimeout: Math.min(number("max.poll.interval.ms", REBALANCE_MS), REBALANCE_MS),
      heartbeatInterval: this.#heartbeatMs,
      metadataMaxAge: refresh < 0 ? METADATA_MS : refresh,
      maxWaitTimeInMs: this.#waitMs(),
      minBytes: number("fetch.min.bytes", 1),
      maxBytesPerPartition: number("fetch.message.max.bytes", FETCH_BYTES),
      maxBytes: number("fetch.max.bytes", FETCH_TOTAL_BYTES),
      readUncommitted: options["isolation.level"]?.toLowerCase() === "read_uncommitted",
      rackId: options["client.rack"] ?? "",
      allowAutoTopicCreation: false,
      retry: { ...RETRY, restartOnFailure: async () => false },
    };
  }

  get #commitMs(): number {
    return numberOf(this.#options.options, "auto.commit.interval.ms", COMMIT_MS);
  }

  /** It asks for metadata between two fetches only. */
  #waitMs(): number {
    const { options } = this.#options;
    const refresh = numberOf(options, "topic.metadata.refresh.interval.ms", METADATA_MS);
    const wanted = numberOf(options, "fetch.wait.max.ms", FETCH_WAIT_MS);
    const waitMs = Math.min(wanted, refresh < 0 ? METADATA_MS : Math.max(refresh, 1));
    return this.feeds.isAnyStopped() ? Math.min(waitMs, FETCH_WAIT_STANDING_MS) : waitMs;
  }

  #hooks(): GroupHooks {
    return {
      memberId: () => this.memberId,
      attached: (group) => this.#group = group,
      joined: (group) =>
        this.#joined(group).catch((cause) => {
          // kafkajs would go on without it, at offsets of its own.
          this.#crash(cause);
          throw cause;
        }),
      outOfRange: (topic, partition) => this.#outOfRange(topic, partition),
    };
  }

  /** Joins the group. Rejects with what is in the way. */
  async start(): Promise<void> {
    const { topics, onProblem } = this.#options;
    const consumer = this.#consumer;
    const { CRASH, END_BATCH_PROCESS, REBALANCING } = consumer.events;
    consumer.on(CRASH, ({ payload }) => this.#crash(payload.error));
    consumer.on(REBALANCING, () => void this.#commits.now());
    // Batches of nothing but aborted records and markers come here alone.
    consumer.on(END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset, batchSize } }) => {
      if (batchSize === 0) this.feeds.of(topic, partition)?.advance(Number(lastOffset) + 1);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    const interval = this.#commitMs;
    if (interval > 0) this.#ends.push(everyAligned(interval, () => void this.#commits.now()));
    this.#ends.push(everyAligned(this.#heartbeatMs, () => this.#beat()));
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: AT_ONCE,
      eachBatch: (payload) =>
        this.#eachBatch(payload).catch((cause) => {
          if (isOwn(cause)) onProblem(`A batch cannot be delivered: ${cause.message}`);
          throw cause;
        }),
    });
  }

  /** kafkajs sends them between two fetches, which is not often enough. */
  #beat(): void {
    const interval = this.#heartbeatMs * EARLY;
    // Then the group is rebalancing: kafkajs hears of it by itself when the fetch is over.
    this.#group?.heartbeat({ interval }).catch(() => this.wake());
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const { topic, partition } = payload.batch;
    const feed = this.feeds.of(topic, partition);
    if (!feed) return;
    await this.#options.deliver(payload, feed);
    this.#setWait();
  }

  /** Has partitions that stand try again now. */
  retry(): void {
    for (const feed of this.feeds.all()) if (feed.isStopped) feed.goOn();
    this.wake();
  }

  /** Ends a fetch that waits, since there is something to do. */
  wake(): void {
    this.#setWait();
    this.#options.client.sockets.interrupt();
  }

  #setWait(): void {
    if (this.#group) this.#group.maxWaitTime = this.#waitMs();
  }

  /** It may join again, and be assigned other partitions, while offsets are asked for. */
  async #joined(group: Group): Promise<void> {
    this.memberId = group.memberId ?? undefined;
    const { group: groupId } = this.#options;
    const committed = new Committed();
    for (;;) {
      const asked = committed.missing(this.feeds.unknown(group.assigned()));
      if (asked.length === 0) break;
      const coordinator = await group.offsetManager.getCoordinator();
      committed.add(asked, (await coordinator.offsetFetch({ groupId, topics: asked })).responses);
    }
    this.feeds.assign(group.assigned(), {
      committed: (topic, partition) => committed.of(topic, partition),
      seek: (topic, partition, position) =>
        this.#consumer.seek({ topic, partition, offset: String(position) }),
    });
    this.#setWait();
    // The end of a partition moves, so a start there has to outlive this consumer. Only after this hook
    // does kafkajs send commits.
    if (this.#commitMs > 0) setImmediate(() => void this.#commits.now());
    this.#options.onJoin();
  }

  /** Resolves with the reason when kafkajs gives it up. */
  crashed(): Promise<Error> {
    return this.#crashed;
  }

  async #outOfRange(topic: string, partition: number): Promise<number> {
    const { client, options, createdAt, onProblem } = this.#options;
    const feed = this.feeds.of(topic, partition);
    const position = feed?.position;
    const admin = client.kafka.admin();
    try {
      await admin.connect();
      const offsets = await admin.fetchTopicOffsets(topic);
      const ends = offsets.find((one) => one.partition === partition) ??
        { partition, low: "0", high: "0" };
      const problem =
        `Partition ${partition} of "${topic}" has the offsets ${ends.low} to ${ends.high}, ` +
        `and not ${position}: records have expired, or the topic was made anew`;
      const reset = offsetResetOf(options);
      if (reset === "error") throw new NoOffset(`${problem}, and auto.offset.reset is error`);
      const positions = await resetPositions(admin, topic, [ends], { options, createdAt });
      const next = positions.get(partition) ?? Number(ends.high);
      onProblem(problem);
      feed?.reset(next);
      return next;
    } finally {
      await admin.disconnect();
    }
  }

  /** Fills in positions and ends that records have not told. Rejects where the broker does not answer. */
  async refresh(admin: Admin): Promise<void> {
    const { topics, group } = this.#options;
    await this.feeds.refresh(admin, { topics, group });
    this.#options.onChange();
  }

  /** Commits, and leaves the group. Resolves in time, whatever the broker does. */
  async close(): Promise<void> {
    for (const end of this.#ends) end();
    const closing = async () => {
      await this.#commits.last();
      this.feeds.close();
      const left = this.#consumer.disconnect();
      this.wake();
      await left;
    };
    await within("Leaving the group", CLOSE_MS, closing()).catch(() => {});
    this.#isClosed = true;
  }
}

function isOwn(cause: unknown): cause is Error {
  return cause instanceof Error && !cause.name.startsWith("KafkaJS");
}
