import type { Effect } from "../engine/effect.ts";
import { type Message, messageBytes } from "../model/message.ts";
import type { Rows } from "../model/rows.ts";
import type { Clock, Log, Parcel } from "../ports.ts";

export interface PostsOptions {
  /** Whose messages these are. */
  readonly from: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Messages after this one in order of (destination, seq), from the store, at most `limit`. */
  readonly load: (
    after: Pick<Rows["outbox"], "to" | "seq"> | undefined,
    limit: number,
  ) => Promise<readonly Rows["outbox"][]>;
  /** Brings messages to a partition. Answers the last one that it has, once that is durable. */
  readonly carry: (to: number, parcel: Parcel) => Promise<number>;
  /** The other partition has these messages, for good. */
  readonly acknowledged: (to: number, range: { first: number; last: number }) => void;
  readonly onFailure: (cause: unknown) => void;
}

/** What is kept in memory for one destination; the rest stays in the store until there is room. */
const QUEUE_MAX = 1_000;
const QUEUE_BYTES_MAX = 8 * 1024 * 1024;
/** What goes at once: one message at least. */
const PARCEL_MAX = 200;
const PARCEL_BYTES_MAX = 1024 * 1024;
const MESSAGE_BYTES = 300;
const PAGE = 64;
const RETRY_MS = 50;
const RETRY_MAX_MS = 2_000;
/** A parcel that is not answered for so long is sent again: what comes twice is dropped. */
const CARRY_MS = 10_000;
/** Failures in a row before somebody is told. */
const QUIET_FAILURES = 5;

type Sent = Pick<Rows["outbox"], "seq" | "message">;

/** The way to one other partition. */
interface Route {
  readonly to: number;
  /** In their order, without gaps. */
  queue: Sent[];
  bytes: number;
  /** The last one that is, or was, in the queue. */
  tail: number;
  /** The store may have some after that. */
  hasMore: boolean;
  isBusy: boolean;
  failures: number;
}

/**
 * Brings messages to other partitions: each destination gets its own in their order, and what it has
 * not acknowledged again and again (decision 031). Every message is a row before it comes here, so a
 * crash loses none, and no more of them need to be in memory than are sent next.
 */
export class Posts {
  readonly #options: PostsOptions;
  readonly #routes = new Map<number, Route>();
  /** Until all that an earlier life left is known, nothing goes: it would overtake that. */
  #isOpening = true;
  #isStopped = false;

  constructor(options: PostsOptions) {
    this.#options = options;
  }

  /** Messages known to be under way. */
  get waiting(): number {
    let count = 0;
    for (const { queue } of this.#routes.values()) count += queue.length;
    return count;
  }

  /** Finds what an earlier life left behind, and begins. What is added before goes after it. */
  async open(): Promise<void> {
    let after: Pick<Rows["outbox"], "to" | "seq"> | undefined;
    for (;;) {
      const page = await this.#options.load(after, PAGE);
      if (this.#isStopped) return;
      for (const row of page) this.#find(this.#route(row.to), row);
      const end = page.at(-1);
      if (!end || page.length < PAGE) break;
      // Whoever has a full queue gets the rest later.
      const isFull = this.#route(end.to).tail < end.seq;
      after = isFull ? { to: end.to, seq: Number.MAX_SAFE_INTEGER } : end;
    }
    this.#isOpening = false;
    for (const route of this.#routes.values()) this.#pump(route);
  }

  add({ to, seq, message }: Effect & { type: "forward" }): void {
    if (this.#isStopped) return;
    const route = this.#route(to, this.#isOpening ? 0 : seq - 1);
    if (this.#isOpening) route.hasMore = true;
    else this.#take(route, { seq, message });
    this.#pump(route);
  }

  stop(): void {
    this.#isStopped = true;
    this.#routes.clear();
  }

  /** `tail`: the last message that needs no sending, where nothing is known of this route. */
  #route(to: number, tail = 0): Route {
    let route = this.#routes.get(to);
    if (!route) {
      route = { to, queue: [], bytes: 0, tail, hasMore: false, isBusy: false, failures: 0 };
      this.#routes.set(to, route);
    }
    return route;
  }

  /** A row of the store. Where none is in memory, those before it were acknowledged. */
  #find(route: Route, row: Sent): void {
    if (route.queue.length === 0) route.tail = Math.max(route.tail, row.seq - 1);
    this.#take(route, row);
  }

  /** Keeps a message, if it is the next one and there is room. Otherwise the store keeps it. */
  #take(route: Route, { seq, message }: Sent): void {
    if (seq <= route.tail) return;
    const isFull = route.queue.length >= QUEUE_MAX || route.bytes >= QUEUE_BYTES_MAX;
    if (isFull || seq !== route.tail + 1) {
      route.hasMore = true;
      return;
    }
    route.queue.push({ seq, message });
    route.tail = seq;
    route.bytes += sizeOf(message);
  }

  #pump(route: Route): void {
    if (route.isBusy || this.#isOpening || this.#isStopped) return;
    const isEmpty = route.queue.length === 0;
    if (isEmpty && !route.hasMore) return;
    route.isBusy = true;
    const done = isEmpty ? this.#refill(route) : this.#send(route);
    done.then(() => {
      route.isBusy = false;
      this.#pump(route);
    }, this.#options.onFailure);
  }

  async #refill(route: Route): Promise<void> {
    // What is added from here on says so itself.
    route.hasMore = false;
    const rows = await this.#options.load({ to: route.to, seq: route.tail }, PAGE);
    for (const row of rows) if (row.to === route.to) this.#find(route, row);
    if (rows.length === PAGE && rows.at(-1)?.to === route.to) route.hasMore = true;
  }

  async #send(route: Route): Promise<void> {
    const { from, carry, acknowledged, log } = this.#options;
    const messages = parcelOf(route.queue);
    const first = route.queue[0]?.seq ?? 0;
    let heard = 0, cause: unknown = "it lacks some before them";
    try {
      heard = await this.#inTime(carry(route.to, { from, first, messages }));
    } catch (reason) {
      cause = reason;
    }
    if (this.#isStopped) return;
    const last = Math.min(heard, first + messages.length - 1);
    if (last < first) {
      if (++route.failures === QUIET_FAILURES) {
        const { to } = route;
        log("warn", "Messages for another partition wait", { from, to, cause: String(cause) });
      }
      return await this.#rest(route);
    }
    route.failures = 0;
    for (const { message } of route.queue.splice(0, last - first + 1)) {
      route.bytes -= sizeOf(message);
    }
    acknowledged(route.to, { first, last });
  }

  /** A connection may break without a word, and nobody would ever answer. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const forget = clock.at(
        clock.now() + CARRY_MS,
        () => reject(new Error("there was no answer in time")),
      );
      answer.then(resolve, reject).finally(forget);
    });
  }

  #rest(route: Route): Promise<void> {
    const { clock } = this.#options;
    const delay = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(route.failures, 20));
    return new Promise((resolve) => clock.at(clock.now() + delay, resolve));
  }
}

function parcelOf(queue: readonly Sent[]): Message[] {
  const messages: Message[] = [];
  let bytes = 0;
  for (const { message } of queue) {
    bytes += sizeOf(message);
    if (messages.length > 0 && bytes > PARCEL_BYTES_MAX) break;
    if (messages.push(message) === PARCEL_MAX) break;
  }
  return messages;
}

/** An estimate of what a message takes in memory. */
function sizeOf(message: Message): number {
  return MESSAGE_BYTES + (messageBytes(message)?.length ?? 0);
}
