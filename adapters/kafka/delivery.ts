import type { EachBatchPayload, KafkaMessage } from "kafkajs";
import { type Chunk, chunkOf } from "../../src/kafka/chunk.ts";
import type { KafkaRecord, Mapped } from "../../src/kafka/mapping.ts";
import type { Ingested, RecordBatch } from "../../src/model/kafka.ts";
import type { Feed, Stop } from "./feed.ts";
import { headersOf } from "./message_headers.ts";
import { pause } from "./pause.ts";
import type { ServerApi, Taken } from "./server_api.ts";

/** A record that cannot be delivered, with what is needed to set it aside. */
export interface Poison {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
  readonly why: string;
  /** The invocation that it became, whose attempts are used up. Absent: it became none. */
  readonly invocation?: { readonly id: string; readonly failedAt: number };
}

export interface DeliveryOptions {
  readonly subscription: string;
  readonly group: string;
  readonly server: ServerApi;
  /** Ends all waits: the consumer stops. */
  readonly signal: AbortSignal;
  readonly map: (record: KafkaRecord) => Mapped;
  /** Whether an operator has asked to pass over this record. */
  readonly isSkipped: (topic: string, partition: number, offset: number) => boolean;
  /** Does with it what `on.poison` says. Answers whether it is done with: otherwise it blocks. */
  readonly setAside: (poison: Poison) => Promise<boolean>;
  /** The end of a partition now. */
  readonly endOf: (topic: string, partition: number) => Promise<number>;
  /** Something is worth a look. */
  readonly onProblem: (message: string) => void;
  /** Something that is reported has changed. */
  readonly onChange: () => void;
}

/** How often a member says that it lives while it waits for the server; kafkajs leaves out the most. */
const BEAT_MS = 500;
const AWAY_MS = { first: 50, last: 500 };
const REFUSED_MS = { first: 500, last: 10_000 };

/** An operator passes over it, whatever is wrong with it or not. */
const SKIPPED: Mapped = { kind: "poison", message: "an operator has asked to skip it" };

/** Hands the records of partitions to the server, in their order. */
export class Delivery {
  readonly #options: DeliveryOptions;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Hands over a batch that kafkajs has read. Returns early where the partition has to stand. */
  async deliver(payload: EachBatchPayload, feed: Feed): Promise<void> {
    const { messages, highWatermark } = payload.batch;
    feed.end = Number(highWatermark);
    if (feed.known === undefined && !await this.#learn(payload, feed)) return;
    const records = messages.map(recordOf);
    for (let at = 0; at < records.length && this.#goesOn(payload);) {
      const chunk = this.#chunkOf(feed, records, at);
      const next = nextOf(payload, records, at + chunk.count);
      const ingested = chunk.records.length > 0
        ? await this.#hand(payload, chunk.records, next)
        : { next };
      if (ingested === undefined) return;
      at = advance(payload, feed, { records, at, next: ingested.next });
      this.#options.onChange();
      if (ingested.isFull && at < records.length) return this.#stand(payload, feed, INBOX);
      const why = ingested.poison?.message ?? (ingested.next === next ? chunk.poison : undefined);
      if (at === records.length || why === undefined) continue;
      if (!await this.#passOver(payload, feed, { message: messages[at]!, why })) return;
    }
  }

  #chunkOf(feed: Feed, records: readonly KafkaRecord[], at: number): Chunk {
    const { topic, partition, known = 0, anew } = feed;
    const { isSkipped } = this.#options;
    const isPassed = (offset: number) => feed.isPassed(offset);
    const map = (record: KafkaRecord): Mapped =>
      isSkipped(topic, partition, record.offset) ? SKIPPED : this.#options.map(record);
    const offset = records[at]!.offset;
    if (anew !== undefined && offset < known && !isPassed(offset)) {
      return { records: [], count: 0, poison: anew };
    }
    return chunkOf(records, at, { map, isPassed });
  }

  /**
   * Asks the server how far it knows the partition: all before that is done with (decision 058), unless
   * the partition has never had so many records. False: the consumer stops. Rejects when the broker
   * does not answer.
   */
  async #learn(payload: EachBatchPayload, feed: Feed): Promise<boolean> {
    const { topic, partition, end = 0 } = feed;
    const asked = await this.#hand(payload, [], 0);
    if (!asked) return false;
    // Another member may have been there since these records were read.
    const last = asked.next > end ? await this.#options.endOf(topic, partition) : end;
    if (asked.next > last) feed.anew = madeAnew(feed, asked.next, last);
    feed.known = asked.next;
    return true;
  }

  /**
   * Sets the record aside, unless an operator has asked to pass over it, and tells the server, so that it
   * is not found again after a crash; or the server says that it is done with. False: the partition stands,
   * or the consumer stops.
   */
  async #passOver(
    payload: EachBatchPayload,
    feed: Feed,
    { message, why }: Pick<Poison, "message" | "why">,
  ): Promise<boolean> {
    const { topic, partition } = feed;
    const offset = Number(message.offset);
    if (!await this.#note(payload, feed, 0)) return false;
    if (feed.isPassed(offset)) return true;
    const { isSkipped, setAside } = this.#options;
    const isDone = isSkipped(topic, partition, offset) ||
      await setAside({ topic, partition, message, why });
    if (!isDone) {
      this.#stand(payload, feed, { kind: "poison", message: why });
      return false;
    }
    feed.passed.add(offset);
    return await this.#note(payload, feed, offset + 1);
  }

  /** Tells the server that all before `done` is done with. False: the consumer stops. */
  async #note(payload: EachBatchPayload, feed: Feed, done: number): Promise<boolean> {
    const answer = await this.#hand(payload, [], done);
    if (answer) feed.known = Math.max(feed.known ?? 0, answer.next);
    return answer !== undefined;
  }

  #goesOn({ isRunning, isStale }: EachBatchPayload): boolean {
    return !this.#options.signal.aborted && isRunning() && !isStale();
  }

  /** Leaves the other partitions of the consumer alone. */
  #stand({ pause }: EachBatchPayload, feed: Feed, stop: Stop): void {
    feed.stop(stop, pause());
    this.#options.onChange();
  }

  /** Undefined: the consumer stops. Throws where the group is rebalancing. */
  async #hand(
    { batch: { topic, partition }, heartbeat }: EachBatchPayload,
    records: RecordBatch["records"],
    next: number,
  ): Promise<Ingested | undefined> {
    const { subscription, group, signal, onProblem } = this.#options;
    let batch: RecordBatch = { subscription, group, topic, partition, next, records };
    for (let turn = 0; !signal.aborted; turn++) {
      const taken = await this.#post(batch, heartbeat);
      if (taken.kind === "tooLarge" && batch.records.length > 1) {
        batch = firstHalf(batch);
        continue;
      }
      const ingested = ingestedOf(taken, batch);
      if (ingested) return ingested;
      if ("message" in taken && taken.kind !== "away") onProblem(taken.message);
      const { first, last } = "message" in taken && taken.kind !== "away" ? REFUSED_MS : AWAY_MS;
      await beating(pause(Math.min(last, first * 2 ** turn), signal), heartbeat);
      // Requests and pauses may all be shorter than the time between two beats.
      await heartbeat();
    }
    return undefined;
  }

  /** A request that is no longer waited for is ended. */
  async #post(batch: RecordBatch, heartbeat: () => Promise<void>) {
    const { server, signal } = this.#options;
    const ended = new AbortController();
    try {
      const both = AbortSignal.any([signal, ended.signal]);
      return await beating(server.records(batch, both), heartbeat);
    } finally {
      ended.abort();
    }
  }
}

/** What is in between may take less than the server: one record is poison then. */
function firstHalf({ records, ...batch }: RecordBatch): RecordBatch {
  const middle = Math.ceil(records.length / 2);
  return {
    ...batch,
    next: records[middle]?.offset ?? batch.next,
    records: records.slice(0, middle),
  };
}

/** Undefined: the same is to be sent again. */
function ingestedOf(taken: Taken, { records, next }: RecordBatch): Ingested | undefined {
  const [first] = records;
  if (taken.kind === "tooLarge" && records.length === 1 && first) {
    return { next: first.offset, poison: { message: taken.message } };
  }
  if (taken.kind !== "taken") return undefined;
  const { ingested } = taken;
  const isWhole = ingested.next >= next || ingested.poison || ingested.isFull;
  return isWhole || ingested.next > (first?.offset ?? next) ? ingested : undefined;
}

function madeAnew({ topic, partition }: Feed, known: number, end: number): string {
  return `Partition ${partition} of "${topic}" ends at ${end}, and was read up to ${known} before: the ` +
    "topic was made anew, or has lost records. Records up to there cannot be told from those that were " +
    "read. Delete this subscription and make another one, which reads them";
}

const INBOX: Stop = {
  kind: "inbox",
  message: "As many invocations of the subscription wait as may",
};

function recordOf(message: KafkaMessage): KafkaRecord {
  const { offset, timestamp, key, value } = message;
  return {
    offset: Number(offset),
    timestamp: Number(timestamp),
    key: key ?? undefined,
    value: value ?? undefined,
    headers: headersOf(message).map(([name, bytes]) => [name, bytes ?? EMPTY]),
  };
}

const EMPTY = new Uint8Array();

/** The offset after what is covered: markers of transactions at the end of a batch count as well. */
function nextOf(
  { batch }: EachBatchPayload,
  records: readonly KafkaRecord[],
  covered: number,
): number {
  return records[covered]?.offset ?? Number(batch.lastOffset()) + 1;
}

interface Advance {
  readonly records: readonly KafkaRecord[];
  readonly at: number;
  readonly next: number;
}

/** Notes how far the server is. Answers the index of the record that comes now. */
function advance(
  { batch, resolveOffset }: EachBatchPayload,
  feed: Feed,
  { records, at, next }: Advance,
): number {
  let index = at;
  while (index < records.length && records[index]!.offset < next) index++;
  const last = records[index - 1];
  if (last) resolveOffset(String(last.offset));
  const isAll = index === records.length;
  if (isAll || last) feed.advance(isAll ? Number(batch.lastOffset()) + 1 : records[index]!.offset);
  return index;
}

/** Waits for work, and tells the group meanwhile that this member lives. Throws what the group says. */
async function beating<T>(work: Promise<T>, heartbeat: () => Promise<void>): Promise<T> {
  for (;;) {
    const timer = new AbortController();
    const late = pause(BEAT_MS, timer.signal).then(() => LATE);
    const first = await Promise.race([work, late]);
    timer.abort();
    if (first !== LATE) return first as T;
    await heartbeat();
  }
}

const LATE = Symbol("late");
