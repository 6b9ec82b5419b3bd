import type { Message } from "../../src/model/message.ts";
import { addressee, isShareMessage } from "../../src/model/message.ts";
import { partitionOfCounter, partitionOfId, partitionOfObject } from "../../src/model/ring.ts";
import { parseObject } from "../../src/model/target.ts";
import { groupOf, peerOf, type Rows, type Write } from "../../src/model/rows.ts";
import type { OutboxBatch } from "../../src/ports.ts";
import { must } from "./must.ts";
import { isSame } from "./invocation_record.ts";

type Pair = Pick<Rows["peer"], "from" | "to">;

/** All messages that one partition has ever sent to another one. */
interface Way extends Pair {
  readonly messages: Message[];
  /** By the rows of the sender: the last number it used, and the last message it has dropped. */
  sent: number;
  dropped: number;
  /** By the rows of the receiver: the last message it has applied. */
  heard: number;
}

/**
 * Checks messages between partitions: they are numbered without gaps, kept until they are applied,
 * applied in order and never twice, and every row is in its partition. `messages.ts` checks the
 * effects of a message.
 */
export class Deliveries {
  /** The messages that this commit has written, and those that it has applied. */
  readonly posted: Message[] = [];
  readonly arrived: { readonly message: Message; readonly from: number }[] = [];
  readonly #partitions: number;
  readonly #ways = new Map<string, Way>();
  readonly #places = new Map<string, number>();

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

  /** The partition of an invocation. */
  whereIs(id: string): number {
    let place = this.#places.get(id);
    if (place === undefined) {
      this.#places.set(id, place = partitionOfId(id, this.#partitions));
    }
    return place;
  }

  isFar(a: string, b: string): boolean {
    return this.whereIs(a) !== this.whereIs(b);
  }

  /** Messages that were written and not applied yet. */
  *underWay(): Generator<Message> {
    for (const { messages, heard } of this.#ways.values()) yield* messages.slice(heard);
  }

  /** Takes the writes of one commit of a partition, before any other check. */
  commit(writes: readonly Write[], partition: number): void {
    this.posted.length = 0;
    this.arrived.length = 0;
    for (const { table, row, drop } of writes) {
      this.#mustBeAtHome({ table, row, drop }, partition);
      if (table === "outbox") this.#outbox(row as Rows["outbox"], drop);
      else if (table === "peer") this.#peer(row as Rows["peer"], drop);
    }
    for (const { from, sent, messages, to } of this.#ways.values()) {
      const isCounted = from !== partition || sent === messages.length;
      must(isCounted, () => `${from} has sent ${messages.length} to ${to}, and counts ${sent}`);
    }
  }

  /** A batch is sent. */
  sent(to: number, { from, first, messages }: OutboxBatch): void {
    const way = this.#way({ from, to });
    must(messages.length > 0, () => `${from} sends nothing to ${to}`);
    must(first <= way.heard + 1, () => `${from} sends ${first} to ${to}, which has ${way.heard}`);
    messages.forEach((message, i) => {
      const seq = first + i, written = way.messages[seq - 1];
      must(written, () => `${from} sends ${seq} to ${to} before it is durable`);
      must(isSame(written, message), () => `${from} sends another ${seq} to ${to}`);
    });
  }

  /** A partition acknowledges all messages up to this one. */
  acknowledges(pair: Pair, seq: number): void {
    const { heard, from, to } = this.#way(pair);
    must(seq <= heard, () => `${to} says that it has ${seq} of ${from}, and has ${heard}`);
  }

  /** Whether all messages were applied and dropped. */
  get isQuiet(): boolean {
    return [...this.#ways.values()].every(({ messages: { length }, heard, dropped }) =>
      heard === length && dropped === length
    );
  }

  #outbox({ from, to, seq, message }: Rows["outbox"], drop: boolean): void {
    const way = this.#way({ from, to });
    if (drop) {
      must(seq <= way.heard, () => `${from} forgets ${seq}, and ${to} does not have it`);
      must(seq === way.dropped + 1, () => `${from} forgets ${seq} for ${to} after ${way.dropped}`);
      way.dropped = seq;
      return;
    }
    const { length } = way.messages;
    must(seq === length + 1, () => `${from} writes ${seq} to ${to} after ${length}`);
    const place = isShareMessage(message) ? message.to : this.whereIs(addressee(message));
    must(place === to && to !== from, () => `${from} writes to ${to} what is for ${place}`);
    way.messages.push(message);
    this.posted.push(message);
  }

  #peer({ from, to, sent, heard }: Rows["peer"], drop: boolean): void {
    must(!drop, () => `${from} forgets what it knows of ${to}`);
    const out = this.#way({ from, to }), home = this.#way({ from: to, to: from });
    must(sent >= out.sent, () => `${from} counts ${sent} to ${to} after ${out.sent}`);
    out.sent = sent;
    must(heard >= home.heard, () => `${from} has ${heard} of ${to}, and had ${home.heard}`);
    const { length } = home.messages;
    must(heard <= length, () => `${from} has ${heard} of ${to}, which wrote ${length}`);
    for (const message of home.messages.slice(home.heard, heard)) {
      this.arrived.push({ message, from: to });
    }
    home.heard = heard;
  }

  /** Every row is in the partition of its key. */
  #mustBeAtHome({ table, row }: Write, partition: number): void {
    const place = this.#placeOf(table, row);
    must(place === partition, () => `${table} "${groupOf(table, row)}" is written to ${partition}`);
  }

  #placeOf(table: Write["table"], row: Write["row"]): number {
    switch (table) {
      case "outbox":
      case "peer":
        return (row as Pair).from;
      case "lock":
      case "inbox":
      case "state":
      case "promise":
        return this.#placeOfObject((row as Rows["lock"]).object);
      case "share":
        return (row as Rows["share"]).partition;
      case "source":
        return (row as Rows["source"]).home;
      case "bucket":
      case "bank":
        return partitionOfCounter((row as Rows["bank"]).counter, this.#partitions);
      default:
        return this.whereIs(groupOf<Write["table"]>(table, row));
    }
  }

  #placeOfObject(object: string): number {
    let place = this.#places.get(object);
    if (place === undefined) {
      this.#places.set(object, place = partitionOfObject(parseObject(object), this.#partitions));
    }
    return place;
  }

  #way({ from, to }: Pair): Way {
    const name = peerOf({ from, to });
    let way = this.#ways.get(name);
    if (!way) {
      this.#ways.set(name, way = { from, to, messages: [], sent: 0, dropped: 0, heard: 0 });
    }
    return way;
  }
}
