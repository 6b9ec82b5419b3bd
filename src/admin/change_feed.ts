import { Failure } from "../errors.ts";
import type { Changes } from "../model/changes.ts";
import type { Clock, OnLeave } from "../ports.ts";

export interface ChangeFeedOptions {
  /** Of all processes. */
  readonly partitions: number;
  /** As `PartitionClient.changes`, of a partition here or elsewhere. */
  readonly changes: (
    partition: number,
    cursor: string | undefined,
    onLeave: OnLeave,
  ) => Promise<Changes>;
  /** Has a function called after each change of deployments, services, limits and subscriptions. */
  readonly subscribe: (call: () => void) => void;
  readonly clock: Pick<Clock, "now" | "at">;
}

/** What has changed. `v`: grows with each one of this process. */
export interface Hint {
  readonly v: number;
  /** Ids of invocations. */
  readonly inv?: readonly string[];
  /** Names of services. */
  readonly svc?: readonly string[];
  /** Deployments, services, limits, clusters or subscriptions. */
  readonly config?: true;
  /** Anything may have changed. */
  readonly all?: true;
}

/** A hint is sent this long after the one before, in milliseconds, or later. */
const INTERVAL_MS = 250;
/** After a partition could not be asked, in milliseconds. */
const RETRY_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** Names in a hint. With more, it says that anything may have changed. */
const NAMES_MAX = 100;
const STREAMS_MAX = 100;
/** A stream ends after that, in milliseconds, so that its reader has to show a token or session again. */
const STREAM_MS = 300_000;
/** Hints that wait for a slow reader. */
const QUEUE_MAX = 16;

type Send = (text: string) => void;

interface Stream {
  readonly close: () => void;
  /** When it was opened, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Tells browsers what has changed, as server-sent events (docs/spec/admin.md#events). All streams of a
 * process share one request to each partition, which is made while there is a stream.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #streams = new Map<Send, Stream>();
  /** Ends the requests to the partitions. Undefined: none are made. */
  #polling: Polling | undefined;
  #pending = noChange();
  #v = 0;
  #sentAt = -Infinity;
  #isDue = false;
  #isEnded = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    options.subscribe(() => this.#changed({ config: true }));
  }

  /**
   * A stream of hints, which begins with one that says that anything may have changed. Throws `Failure`
   * 503 when there are too many, or the process ends.
   */
  open(): ReadableStream<Uint8Array> {
    if (this.#isEnded) throw Failure.plain(503, "Cannot show changes: the server ends");
    if (this.#streams.size >= STREAMS_MAX) {
      throw Failure.plain(503, `Cannot show changes: ${STREAMS_MAX} others are shown them already`);
    }
    let send: Send;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = sendTo(controller, () => print({ v: ++this.#v, all: true }));
        const at = this.#options.clock.now();
        this.#streams.set(send, { close: () => controller.close(), at });
        send(`retry: ${RETRY_MS}\n${print({ v: ++this.#v, all: true })}`);
        this.#polling ??= this.#poll();
      },
      cancel: () => this.#closed(send),
    }, { highWaterMark: QUEUE_MAX });
  }

  /** The process ends: so do all streams. */
  end(): void {
    this.#isEnded = true;
    this.#endBefore(Infinity);
  }

  /** Ends the streams that were opened before, or at that time. */
  #endBefore(time: number): void {
    for (const [send, { close, at }] of [...this.#streams]) {
      if (at > time) continue;
      close();
      this.#closed(send);
    }
  }

  #closed(send: Send): void {
    this.#streams.delete(send);
    if (this.#streams.size > 0) return;
    this.#polling?.end();
    this.#polling = undefined;
  }

  #poll(): Polling {
    const { clock, partitions, changes } = this.#options;
    const polling = new Polling(clock);
    const changed = (change: Change) => this.#changed(change);
    for (let partition = 0; partition < partitions; partition++) {
      void polling.follow((cursor, onLeave) => changes(partition, cursor, onLeave), changed);
    }
    void polling.beat(() => {
      this.#endBefore(clock.now() - STREAM_MS);
      for (const send of this.#streams.keys()) send(":\n\n");
    });
    return polling;
  }

  #changed({ invocations = [], services = [], config, all }: Change): void {
    if (this.#streams.size === 0) return;
    const pending = this.#pending;
    for (const id of invocations) pending.inv.add(id);
    for (const name of services) pending.svc.add(name);
    pending.config ||= config === true;
    pending.all ||= all === true || pending.inv.size + pending.svc.size > NAMES_MAX;
    if (this.#isDue) return;
    this.#isDue = true;
    const { clock } = this.#options;
    clock.at(Math.max(clock.now(), this.#sentAt + INTERVAL_MS), () => this.#send());
  }

  #send(): void {
    const { inv, svc, config, all } = this.#pending;
    this.#pending = noChange();
    this.#isDue = false;
    this.#sentAt = this.#options.clock.now();
    const text = print({
      v: ++this.#v,
      ...(all ? { all } : { inv: [...inv], svc: [...svc] }),
      ...(config && { config }),
    });
    for (const send of this.#streams.keys()) send(text);
  }
}

/** What a partition or the configuration has changed. */
interface Change extends Partial<Pick<Changes, "invocations" | "services">> {
  readonly config?: boolean;
  readonly all?: boolean;
}

function noChange() {
  return { inv: new Set<string>(), svc: new Set<string>(), config: false, all: false };
}

type Ask = (cursor: string | undefined, onLeave: OnLeave) => Promise<Changes>;

/** Requests to partitions, until its end. */
class Polling {
  readonly #clock: ChangeFeedOptions["clock"];
  readonly #ends = new Set<() => void>();
  #isEnded = false;

  constructor(clock: ChangeFeedOptions["clock"]) {
    this.#clock = clock;
  }

  onEnd(end: () => void): void {
    if (this.#isEnded) end();
    else this.#ends.add(end);
  }

  end(): void {
    this.#isEnded = true;
    for (const end of this.#ends) end();
  }

  /** Asks again and again, and says what has changed since the first request. */
  async follow(ask: Ask, changed: (change: Change) => void): Promise<void> {
    let cursor: string | undefined;
    let hasFailed = false;
    while (!this.#isEnded) {
      const answer = await this.#ask(ask, cursor);
      if (this.#isEnded) return;
      if (answer) {
        const { invocations, services, isAll } = answer;
        if (isAll) {
          if (cursor !== undefined || hasFailed) changed({ all: true });
        } else if (invocations.length + services.length > 0) changed({ invocations, services });
        cursor = answer.cursor;
      }
      hasFailed = !answer;
      await this.#pause(answer ? INTERVAL_MS : RETRY_MS);
    }
  }

  /** Undefined: the partition could not be asked. */
  async #ask(ask: Ask, cursor: string | undefined): Promise<Changes | undefined> {
    const leaves: (() => void)[] = [];
    const onLeave: OnLeave = (leave) => {
      leaves.push(leave);
      this.onEnd(leave);
    };
    try {
      return await ask(cursor, onLeave);
    } catch {
      return undefined;
    } finally {
      for (const leave of leaves) this.#ends.delete(leave);
    }
  }

  /** Calls back now and then, so that a connection that is gone is noticed. */
  async beat(call: () => void): Promise<void> {
    for (;;) {
      await this.#pause(HEARTBEAT_MS);
      if (this.#isEnded) return;
      call();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        cancel();
        this.#ends.delete(over);
        resolve();
      };
      const cancel = this.#clock.at(this.#clock.now() + ms, over);
      this.onEnd(over);
    });
  }
}

function print(hint: Hint): string {
  return `data: ${JSON.stringify(hint)}\n\n`;
}

/** Leaves out what a slow reader has no room for. The next hint that it gets is then `all`. */
function sendTo(
  controller: ReadableStreamDefaultController<Uint8Array>,
  all: () => string,
): Send {
  const encoder = new TextEncoder();
  let hasMissed = false;
  return (text) => {
    const isRoom = (controller.desiredSize ?? 0) > 0;
    if (isRoom) controller.enqueue(encoder.encode(hasMissed ? all() : text));
    hasMissed = !isRoom;
  };
}
