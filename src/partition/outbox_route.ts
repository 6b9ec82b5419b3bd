import { type Message, messageBytes } from "../model/message.ts";
import type { Rows } from "../model/rows.ts";
import type { Clock, Log, OutboxBatch } from "../ports.ts";

export interface RouteOptions {
  /** The partition that sends. */
  readonly from: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Messages after this one in order of (destination, seq), from the store, at most `limit`. */
  readonly load: (
    after: Pick<Rows["outbox"], "to" | "seq"> | undefined,
    limit: number,
  ) => Promise<readonly Rows["outbox"][]>;
  /** Sends messages to a partition. Resolves to the last `seq` that it has, once that is durable. */
  readonly sendBatch: (to: number, batch: OutboxBatch) => Promise<number>;
  /** Called when the other partition has made these messages durable. */
  readonly acknowledged: (to: number, range: { first: number; last: number }) => void;
  readonly onFailure: (cause: unknown) => void;
}

/** Messages in memory for one destination; later ones stay in the store until there is room. */
const QUEUE_MAX = 1_000;
const QUEUE_BYTES_MAX = 8 * 1024 * 1024;
/** Limit of one batch, which has one message at least. */
const BATCH_MESSAGES_MAX = 200;
const BATCH_BYTES_MAX = 1024 * 1024;
const MESSAGE_BYTES = 300;
/** Messages that are read from the store at once. */
export const PAGE = 64;
const RETRY_MS = 50;
const RETRY_MAX_MS = 2_000;
/** A batch without a response for so long is sent again: the receiver drops duplicates. */
const SEND_TIMEOUT_MS = 10_000;
/** Failures in a row before one is logged. */
const QUIET_FAILURES = 5;

type QueuedMessage = Pick<Rows["outbox"], "seq" | "message">;

/** Sends messages to one other partition, in their order, one batch at a time. */
export class OutboxRoute {
  readonly #to: number;
  readonly #options: RouteOptions;
  /** In their order, without gaps. */
  readonly #queue: QueuedMessage[] = [];
  #bytes = 0;
  /** `seq` of the last message that is, or was, in the queue. */
  #tail: number;
  /** Whether the store may have later messages. */
  #hasMore = false;
  #isBusy = false;
  #isStopped = false;
  #failures = 0;

  /** `tail`: `seq` of the last message that needs no sending. */
  constructor(to: number, tail: number, options: RouteOptions) {
    this.#to = to;
    this.#tail = tail;
    this.#options = options;
  }

  /** Messages in memory. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** `seq` of the last message that is, or was, in memory. */
  get tail(): number {
    return this.#tail;
  }

  /** Takes a row of the store. If none is in memory, all earlier ones were acknowledged. */
  found(row: QueuedMessage): void {
    if (this.#queue.length === 0) this.#tail = Math.max(this.#tail, row.seq - 1);
    this.add(row);
  }

  /** Queues a message, if it is the next one and there is room. Otherwise it is read later. */
  add({ seq, message }: QueuedMessage): void {
    if (seq <= this.#tail) return;
    const isFull = this.#queue.length >= QUEUE_MAX || this.#bytes >= QUEUE_BYTES_MAX;
    if (isFull || seq !== this.#tail + 1) return this.expectMore();
    this.#queue.push({ seq, message });
    this.#tail = seq;
    this.#bytes += sizeOf(message);
  }

  /** Says that the store has messages that are not in memory. */
  expectMore(): void {
    this.#hasMore = true;
  }

  /** Sends until no message waits. Does nothing while it already runs. */
  pump(): void {
    if (this.#isBusy || this.#isStopped) return;
    const isEmpty = this.#queue.length === 0;
    if (isEmpty && !this.#hasMore) return;
    this.#isBusy = true;
    const done = isEmpty ? this.#refill() : this.#send();
    done.then(() => {
      this.#isBusy = false;
      this.pump();
    }, this.#options.onFailure);
  }

  /** Sends no more, and acknowledges nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #refill(): Promise<void> {
    // A message that is added from here on sets it again.
    this.#hasMore = false;
    const rows = await this.#options.load({ to: this.#to, seq: this.#tail }, PAGE);
    for (const row of rows) if (row.to === this.#to) this.found(row);
    if (rows.length === PAGE && rows.at(-1)?.to === this.#to) this.#hasMore = true;
  }

  async #send(): Promise<void> {
    const { from, sendBatch, acknowledged } = this.#options;
    const messages = nextBatchOf(this.#queue);
    const first = this.#queue[0]?.seq ?? 0;
    let heard = 0, cause: unknown = "it lacks some before them";
    try {
      heard = await this.#inTime(sendBatch(this.#to, { from, first, messages }));
    } catch (reason) {
      cause = reason;
    }
    if (this.#isStopped) return;
    const last = Math.min(heard, first + messages.length - 1);
    if (last < first) return await this.#failed(cause);
    this.#failures = 0;
    for (const { message } of this.#queue.splice(0, last - first + 1)) {
      this.#bytes -= sizeOf(message);
    }
    acknowledged(this.#to, { first, last });
  }

  /** Rejects when there is no response in time: a connection may break without notice. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const forget = clock.at(
        clock.now() + SEND_TIMEOUT_MS,
        () => reject(new Error("there was no answer in time")),
      );
      answer.then(resolve, reject).finally(forget);
    });
  }

  /** Waits before the batch is sent again, and logs the failure if it lasts. */
  #failed(cause: unknown): Promise<void> {
    const { from, clock, log } = this.#options;
    if (++this.#failures === QUIET_FAILURES) {
      const fields = { from, to: this.#to, cause: String(cause) };
      log("warn", "Messages for another partition wait", fields);
    }
    const delay = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(this.#failures, 20));
    return new Promise((resolve) => clock.at(clock.now() + delay, resolve));
  }
}

function nextBatchOf(queue: readonly QueuedMessage[]): Message[] {
  const messages: Message[] = [];
  let bytes = 0;
  for (const { message } of queue) {
    bytes += sizeOf(message);
    if (messages.length > 0 && bytes > BATCH_BYTES_MAX) break;
    if (messages.push(message) === BATCH_MESSAGES_MAX) break;
  }
  return messages;
}

/** An estimate of what a message takes in memory. */
function sizeOf(message: Message): number {
  return MESSAGE_BYTES + (messageBytes(message)?.length ?? 0);
}
