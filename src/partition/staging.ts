import { assert } from "../assert.ts";
import type { Event } from "../engine/event.ts";
import type { Command } from "../model/command.ts";
import type { Lease, Store } from "../ports.ts";

export interface StagingOptions {
  /** Makes the bytes of an event durable before its turn (`Store.stage`). */
  readonly stage: (bytes: Uint8Array) => Promise<() => void>;
  /** Events with a value of so many bytes are staged. */
  readonly bytesMin: number;
  readonly send: (event: Event, durable: (() => void) | undefined) => void;
  readonly onFailure: (cause: unknown) => void;
}

interface Waiting {
  readonly event: Event;
  readonly durable: (() => void) | undefined;
}

/** Stages events of a partition. Undefined: its store needs none staged. */
export function stagingOf(
  store: Store,
  lease: Lease,
  options: Pick<StagingOptions, "send" | "onFailure">,
): Staging | undefined {
  const { stagedBytesMin: bytesMin } = store;
  if (bytesMin === undefined) return undefined;
  const stage = (bytes: Uint8Array) => {
    assert(store.stage, "A store that names a size to stage can stage");
    return store.stage(lease, bytes);
  };
  return new Staging({ ...options, bytesMin, stage });
}

/**
 * Holds back events with large values until these are durable, so that their turn commits references
 * and no other turn waits for 30 MB to be written. Events of one attempt keep their order: those behind
 * a large one wait for it.
 */
export class Staging {
  readonly #options: StagingOptions;
  /** Events behind a large one of the same attempt, by invocation and attempt number. */
  readonly #behind = new Map<string, Waiting[]>();
  #staging = 0;
  #isStopped = false;

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** Events held back. */
  get waiting(): number {
    let waiting = this.#staging;
    for (const { length } of this.#behind.values()) waiting += length;
    return waiting;
  }

  /** Takes an event that is large or must wait for one. Returns false if it can be sent at once. */
  hold(event: Event, durable: (() => void) | undefined): boolean {
    const behind = this.#behindOf(event);
    if (behind) {
      behind.push({ event, durable });
      return true;
    }
    const large = largeIn(event, this.#options.bytesMin);
    if (large.length === 0) return false;
    const stream = streamOf(event);
    if (stream !== undefined) this.#behind.set(stream, []);
    this.#staging++;
    this.#stage(large).then((releases) => {
      this.#staging--;
      if (this.#isStopped) return;
      this.#options.send(event, () => {
        for (const release of releases) release();
        durable?.();
      });
      if (stream !== undefined) this.#goOn(stream);
    }, (cause) => {
      if (!this.#isStopped) this.#options.onFailure(cause);
    });
    return true;
  }

  /** Nothing is sent any more. */
  stop(): void {
    this.#isStopped = true;
    this.#behind.clear();
  }

  /** The events that wait before this one. Mostly no stream waits, and no key is made then. */
  #behindOf(event: Event): Waiting[] | undefined {
    if (this.#behind.size === 0) return undefined;
    const stream = streamOf(event);
    return stream === undefined ? undefined : this.#behind.get(stream);
  }

  async #stage(values: readonly Uint8Array[]): Promise<(() => void)[]> {
    const releases: (() => void)[] = [];
    for (const value of values) releases.push(await this.#options.stage(value));
    return releases;
  }

  /** Sends the events that waited, up to the next large one. */
  #goOn(stream: string): void {
    const behind = this.#behind.get(stream) ?? [];
    this.#behind.delete(stream);
    for (const { event, durable } of behind) {
      if (!this.hold(event, durable)) this.#options.send(event, durable);
    }
  }
}

/** The key of events that must keep their order. Undefined: this one need not. */
function streamOf(event: Event): string | undefined {
  const isOrdered = event.type === "framesReceived" || event.type === "attemptEnded";
  return isOrdered ? `${event.id}/${event.attempt}` : undefined;
}

const NONE: readonly Uint8Array[] = [];

function largeIn(event: Event, bytesMin: number): readonly Uint8Array[] {
  if (event.type === "invoked") return event.value.length >= bytesMin ? [event.value] : NONE;
  if (event.type === "ingested") {
    const large = event.records.filter(({ request }) => request.value.length >= bytesMin);
    return large.map(({ request }) => request.value);
  }
  if (event.type !== "framesReceived") return NONE;
  let large = NONE;
  for (const frame of event.frames) {
    const bytes = bytesOf(frame);
    if (bytes && bytes.length >= bytesMin) large = [...large, bytes];
  }
  return large;
}

function bytesOf(frame: Command): Uint8Array | undefined {
  if (frame.kind !== "runCompletion") return frame.bytes;
  return frame.result.kind === "value" ? frame.result.value : undefined;
}
