import type { Corrected } from "../../../src/engine/flow/slots.ts";
import { step } from "../../../src/engine/step.ts";
import { Turn } from "../../../src/engine/turn.ts";
import { INVOCATION_ID_BYTES, printInvocationId } from "../../../src/model/id.ts";
import { holdsSlots } from "../../../src/model/invocation.ts";
import type { Controls, Limits } from "../../../src/model/limits.ts";
import { partitionOfId } from "../../../src/model/ring.ts";
import { groupOf, peerOf, type Rows, shareOf } from "../../../src/model/rows.ts";
import { Schema } from "../../../src/model/schema.ts";
import { Scheduler } from "../../../src/partition/flow/scheduler.ts";
import { compareQueued } from "../../../src/storage/codec/order.ts";
import { controlsAfter, type GivenControls } from "../../support/controls.ts";
import { deployment, schema } from "../../support/schema.ts";
import { parse } from "../_script.ts";
import { Place } from "./_place.ts";

/** When the clock of `Places` begins. */
export const BEGIN = 1_000_000;
/** The counters that `greeter` limits: of the service, and of its handler. */
export const COUNTER = "service:greeter", HANDLER = "handler:greeter/hi";

/** Limits of the service, and of its handler. */
export function greeter(limits: Limits, hi?: Limits): GivenControls {
  return { services: { greeter: { limits, ...hi && { handlers: { hi } } } } };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

interface Alarm {
  readonly due: number;
  readonly of: Place;
  readonly call: () => void;
}

/**
 * Several partitions with limits, whose messages come late, whose owners die, and where the test picks
 * what happens next. Each turn is durable at once.
 */
export class Places {
  now = BEGIN;
  readonly places: readonly Place[];
  /** Messages that were sent, by type: for bounds. */
  readonly sent = new Map<string, number>();
  /** When invocations started for the first time. */
  readonly starts: number[] = [];
  /** Banks that turns have corrected. */
  readonly corrected: Corrected[] = [];
  #alarms: Alarm[] = [];
  #schema = new Schema([deployment], schema.defaults);
  #ids = 0;

  constructor(partitions: number, controls: GivenControls) {
    this.places = Array.from(
      { length: partitions },
      (_, partition) => new Place({ partition, partitions }),
    );
    this.limit(controls);
    for (const place of this.places) this.boot(place.range.partition);
  }

  get controls(): Controls {
    return this.#schema.controls;
  }

  /** Sets limits. Every partition learns them at once. */
  limit(controls: GivenControls): void {
    this.know(controlsAfter(this.controls, controls, this.now));
    for (const { scheduler } of this.places) scheduler?.controlsChanged();
  }

  /** The turns that follow go by these limits: older ones where a partition has not heard of a change. */
  know(controls: Controls): void {
    this.#schema = new Schema([deployment], schema.defaults, controls);
  }

  /** The owner of a partition dies, and another one takes over. */
  boot(partition: number): void {
    const place = this.#at(partition);
    place.scheduler?.stop();
    place.mailbox = [];
    this.#alarms = this.#alarms.filter(({ of }) => of !== place);
    const scheduler = place.scheduler = new Scheduler({
      range: place.range,
      clock: {
        now: () => this.now,
        at: (due, call) => {
          const alarm = { due, call, of: place };
          this.#alarms.push(alarm);
          return () => void (this.#alarms = this.#alarms.filter((one) => one !== alarm));
        },
        soon: (call) => call(),
      },
      schema: () => this.#schema,
      send: (event) => void place.mailbox.push(event),
      load: () => Promise.resolve([]),
      onFailure: (cause) => {
        throw cause;
      },
    });
    const rows = place.all("invocation");
    for (const row of rows) if (holdsSlots(row.status)) scheduler.hold(row);
    const queued = rows.flatMap(({ id, status }) =>
      status.kind === "queued" ? [{ id, queue: status.queue, seq: status.seq }] : []
    );
    for (const one of queued.sort(compareQueued)) scheduler.restore(one);
    scheduler.open();
  }

  /** Calls a handler in a partition. */
  call(partition: number, path = "greeter/hi"): string {
    const bytes = new Uint8Array(INVOCATION_ID_BYTES);
    bytes[7] = Math.floor(256 * (partition + 0.5) / this.places.length);
    new DataView(bytes.buffer).setUint16(INVOCATION_ID_BYTES - 2, ++this.#ids);
    const id = printInvocationId(bytes);
    this.#at(partition).mailbox.push(parse(["invoke", id, path]));
    return id;
  }

  /** An invocation that runs ends. */
  end(id: string): void {
    const place = this.#at(partitionOfId(id, this.places.length));
    const attempt = place.find("invocation", id, "")?.attempt ?? 0;
    place.mailbox.push(parse(["hear", `${id}#${attempt}`, "0", "out:done"]));
    place.mailbox.push(parse(["end", `${id}#${attempt}`, "ended"]));
  }

  /** An invocation that runs begins to wait for a signal, and gives back its slots. */
  suspend(id: string): void {
    this.#at(partitionOfId(id, this.places.length)).mailbox.push(
      parse(["end", `${id}#1`, "suspended:s17@1"]),
    );
  }

  /** The signal comes: it needs slots again. */
  signal(id: string): void {
    this.#at(partitionOfId(id, this.places.length)).mailbox.push(parse(["signal", id, "17:x"]));
  }

  kill(id: string): void {
    this.#at(partitionOfId(id, this.places.length)).mailbox.push(parse(["operate", id, "kill"]));
  }

  /** Runs a turn with the first `most` events of a partition. Returns false: there is none. */
  turn(partition: number, most = 1): boolean {
    const place = this.#at(partition), { scheduler } = place;
    const events = place.mailbox.splice(0, most);
    if (!scheduler || events.length === 0) return false;
    const turn = new Turn(this.now, this.#schema, {
      rows: place,
      range: place.range,
      slots: scheduler,
      nextSeq: scheduler.nextSeq,
    });
    for (const event of events) step(turn, event);
    for (const { type, ...effect } of turn.effects) {
      const isFirst = type === "attempt" && (effect as { attempt: number }).attempt === 1;
      if (isFirst) this.starts.push(this.now);
      if (type !== "forward") continue;
      const { message } = effect as { message: { type: string } };
      this.sent.set(message.type, (this.sent.get(message.type) ?? 0) + 1);
    }
    place.apply(turn);
    this.corrected.push(...turn.slots.corrected);
    scheduler.apply(turn.slots);
    return true;
  }

  /** Brings all messages of one partition for another. `isHeard`: the sender learns it. */
  bring(from: number, to: number, { isHeard = true } = {}): boolean {
    const rows = this.#at(from).all("outbox").filter((row) => row.to === to)
      .sort((a, b) => a.seq - b.seq);
    const first = rows[0]?.seq, last = rows.at(-1)?.seq;
    if (first === undefined || last === undefined) return false;
    const messages = rows.map(({ message }) => message);
    // A batch is durable before it is acknowledged.
    const { mailbox } = this.#at(to);
    this.#at(to).mailbox = [{ type: "delivered", from, first, messages, reply: 1 }];
    this.turn(to);
    this.#at(to).mailbox.unshift(...mailbox);
    if (isHeard) this.#at(from).mailbox.push({ type: "acknowledged", to, first, last });
    return true;
  }

  /** Time passes until the next alarm, which rings. Returns false: there is none. */
  pass(): boolean {
    const next = this.#alarms.sort((a, b) => a.due - b.due).shift();
    if (!next) return false;
    this.now = Math.max(this.now, next.due);
    next.call();
    return true;
  }

  /** Ids of all invocations of a status. */
  ids(kind: string): string[] {
    const rows = this.places.flatMap((place) => place.all("invocation"));
    return rows.filter(({ status }) => status.kind === kind).map(({ id }) => id);
  }

  /** A row is damaged: it gets other values. The partition may not run meanwhile. */
  damage<T extends "share" | "bank">(partition: number, table: T, change: Partial<Rows[T]>): void {
    const place = this.#at(partition);
    for (const row of place.all(table)) {
      const group = groupOf(table, row);
      place.tables.get(table)?.get(group)?.set("", { ...row, ...change } as Rows[T]);
    }
  }

  /** The slots that partitions have of a counter. */
  shares(counter: string): number[] {
    return this.places.map(({ range: { partition } }) =>
      this.#at(partition).find("share", `${partition}/${counter}`, "")?.slots ?? 0
    );
  }

  /** Messages that no turn of their partition has applied. */
  underWay(): Rows["outbox"][] {
    return this.places.flatMap((place) => place.all("outbox")).filter(({ from, to, seq }) =>
      seq > (this.#at(to).find("peer", peerOf({ from: to, to: from }), "")?.heard ?? 0)
    );
  }

  /** What banks have given that is neither in a share nor in a message. 0 of each counter: all is right. */
  missing(): Record<string, number> {
    const slots = new Map<string, number>();
    const add = (of: { partition: number; counter: string }, by: number) =>
      void slots.set(shareOf(of), (slots.get(shareOf(of)) ?? 0) + by);
    for (const place of this.places) {
      for (const { counter, given } of place.all("bank")) {
        for (const [one, by] of Object.entries(given)) add({ partition: Number(one), counter }, by);
      }
      for (const share of place.all("share")) add(share, -share.slots);
    }
    for (const { from, to, message } of this.underWay()) {
      if (message.type === "slotsGiven") add({ ...message, partition: to }, -message.slots);
      if (message.type === "slotsReturned") add({ ...message, partition: from }, -message.slots);
      if (message.type === "slotsCounted") add({ ...message, partition: from }, message.slots);
    }
    return Object.fromEntries([...slots].filter(([, sum]) => sum !== 0));
  }

  /** Everything happens that can without an end of an invocation, and without time. */
  settle(): void {
    const all = this.places.map(({ range }) => range.partition);
    for (let rounds = 0; rounds < 10_000; rounds++) {
      const ran = all.map((one) => this.turn(one, 100));
      const brought = all.flatMap((from) => all.map((to) => this.bring(from, to)));
      if (![...ran, ...brought].includes(true)) return;
    }
    throw new Error("Messages go to and fro without end");
  }

  #at(partition: number): Place {
    const place = this.places[partition];
    if (!place) throw new Error(`No partition ${partition}`);
    return place;
  }
}
