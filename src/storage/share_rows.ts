import { sql } from "kysely";
import { peerOf, type Rows, shareOf } from "../model/rows.ts";
import { isShareMessage, type Message, type ShareMessage } from "../model/message.ts";
import type { SqlClient } from "../ports.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { fromJson, fromUtf8 } from "./codec/safe_text.ts";
import { checkedLog } from "./log/recover.ts";

const SHARES = compile(sql`select cast(body as blob) as body from share`);
const BANKS = compile(sql`select cast(body as blob) as body from bank`);
const PEERS = compile(sql`select cast(peer as blob) as peer, heard from peer`);
// Few messages carry slots, and others may be large.
const MESSAGES = compile(sql`select cast(peer as blob) as peer, seq, cast(body as blob) as body
  from outbox where instr(body, '"slots') > 0`);

/** A message with slots that its receiver has not applied. */
export type SlotsUnderWay = ShareMessage & {
  readonly type: "slotsGiven" | "slotsReturned" | "slotsCounted";
};

const UNDER_WAY: readonly ShareMessage["type"][] = ["slotsGiven", "slotsReturned", "slotsCounted"];

/** An entry of a row of the log: a put, whose content comes second, or a drop, whose key does. */
type Logged = readonly [table: string, content: unknown, ...more: readonly unknown[]];

/** A row of the outbox, without the bytes of its message. */
type Sent = Pick<Rows["outbox"], "from" | "to" | "seq" | "message">;

/**
 * The rows that say which partition has how many slots of shared counters (decision 051), of all
 * databases of an installation. No process may write to them meanwhile.
 */
export class ShareRows {
  readonly #shares = new Map<string, Rows["share"]>();
  readonly #banks = new Map<string, Rows["bank"]>();
  /** The last message that a partition has applied of another one, by `peerOf`. */
  readonly #heard = new Map<string, number>();
  /** By `peerOf` and number. */
  readonly #sent = new Map<string, Sent>();

  /**
   * Reads the rows in the tables of a database, and then those in the logs of its partitions. Throws
   * an error of a decoder when one is damaged, and rejects as the client does. Answers whether all of
   * the logs could be read.
   */
  async read(client: SqlClient, partitions: readonly number[]): Promise<boolean> {
    const texts = [SHARES, BANKS, PEERS, MESSAGES].map((text) => statement(text));
    const [shares = [], banks = [], peers = [], messages = []] = await client.batch("read", texts);
    for (const { body } of shares) this.#put("share", parsed(body));
    for (const { body } of banks) this.#put("bank", parsed(body));
    for (const { peer, heard } of peers) this.#put("peer", { ...ends(peer), heard });
    for (const { peer, seq, body } of messages) {
      this.#put("outbox", { ...ends(peer), seq, message: parsed(body) });
    }
    for (const partition of partitions) {
      for await (const { sound, damage } of checkedLog(client, partition)) {
        if (damage) return false;
        for (const { rows } of sound) this.#replay(fromJson(rows) as readonly Logged[]);
      }
    }
    return true;
  }

  /** What each partition has of each counter. */
  get shares(): Iterable<Rows["share"]> {
    return this.#shares.values();
  }

  /** What the home of each counter has given to each partition. */
  get banks(): Iterable<Rows["bank"]> {
    return this.#banks.values();
  }

  shareOf(of: Pick<Rows["share"], "partition" | "counter">): Rows["share"] | undefined {
    return this.#shares.get(shareOf(of));
  }

  bankOf(counter: string): Rows["bank"] | undefined {
    return this.#banks.get(counter);
  }

  /** What has left a home or a partition, and has not arrived. */
  *underWay(): Generator<SlotsUnderWay> {
    for (const { from, to, seq, message } of this.#sent.values()) {
      if (!isShareMessage(message)) continue;
      if (!UNDER_WAY.includes(message.type)) continue;
      const heard = this.#heard.get(peerOf({ from: to, to: from })) ?? 0;
      if (seq > heard) yield message as SlotsUnderWay;
    }
  }

  #replay(entries: readonly Logged[]): void {
    for (const [table, content, ...more] of entries) {
      if (more.length > 0) this.#put(table, content);
      else this.#drop(table, content as readonly [group: string, item: unknown]);
    }
  }

  #put(table: string, row: unknown): void {
    if (table === "share") this.#shares.set(shareOf(row as Rows["share"]), row as Rows["share"]);
    else if (table === "bank") {
      this.#banks.set((row as Rows["bank"]).counter, row as Rows["bank"]);
    } else if (table === "peer") {
      this.#heard.set(peerOf(row as Rows["peer"]), (row as Rows["peer"]).heard);
    } else if (table === "outbox" && isShareMessage((row as Sent).message)) {
      this.#sent.set(sentOf(peerOf(row as Sent), (row as Sent).seq), row as Sent);
    }
  }

  #drop(table: string, [group, item]: readonly [group: string, item: unknown]): void {
    if (table === "bank") this.#banks.delete(group);
    else if (table === "outbox") this.#sent.delete(sentOf(group, item));
  }
}

function sentOf(peer: string, seq: unknown): string {
  return `${peer} ${seq}`;
}

function parsed(body: unknown): Record<string, unknown> & Message {
  return fromJson(fromUtf8(body as Uint8Array)) as Record<string, unknown> & Message;
}

/** The two partitions of a key by `peerOf`. */
function ends(peer: unknown): { readonly from: number; readonly to: number } {
  const [from, to] = fromUtf8(peer as Uint8Array).split("/").map(Number);
  return { from: from ?? NaN, to: to ?? NaN };
}
