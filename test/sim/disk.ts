import { holdsSlots, type InvocationRow, letterSinceOf } from "../../src/model/invocation.ts";
import {
  groupOf,
  type Item,
  itemOf,
  type Rows,
  shareOf,
  type Table,
  TABLES,
  type Timer,
  timerItem,
  type Want,
  type Write,
} from "../../src/model/rows.ts";
import type { Queued } from "../../src/engine/flow/slots.ts";
import { compareOutbox, compareQueued } from "../../src/storage/codec/order.ts";
import { Fenced, type Loaded } from "../../src/ports.ts";
import type { OfSubscription, Scan } from "../../src/scan.ts";
import type { Chance } from "./chance.ts";

type Groups = Map<string, Map<Item, Rows[Table]>>;

/** What survives every crash: the rows of one partition, and who may write them. */
export class Disk {
  epoch = 0;
  /** When it was claimed last, in simulated milliseconds, and which process that was. */
  claimedAt = 0;
  claimedBy = -1;
  commits = 0;
  /** Sabotage: a store that lets every owner write. */
  isFenced = true;
  /** Banks that are damaged and not right again, by `shareOf`. */
  readonly damaged = new Set<string>();
  /** Whether there has been such a bank. */
  wasDamaged = false;
  readonly #tables = new Map<Table, Groups>(TABLES.map((table) => [table, new Map()]));

  claim(): number {
    return ++this.epoch;
  }

  /** Damages a bank in what it has given to its own partition, if there is one. */
  damageBank(partition: number, chance: Chance): void {
    const banks = this.all("bank");
    if (banks.length === 0) return;
    const bank = chance.pick(banks), { counter } = bank;
    const { [partition]: before = 0, ...others } = bank.given;
    const after = before === 0 || chance.happens(0.5) ? before + 1 : before - 1;
    const given = after === 0 ? others : { ...others, [partition]: after };
    this.#groups("bank").get(groupOf("bank", bank))?.set(itemOf("bank", bank), { ...bank, given });
    this.damaged.add(shareOf({ partition, counter }));
    this.wasDamaged = true;
  }

  /** All or nothing. Throws `Fenced` when the partition has been claimed since. */
  apply(epoch: number, writes: readonly Write[]): void {
    if (this.isFenced && epoch !== this.epoch) throw new Fenced(`Epoch ${epoch} is over`);
    this.commits++;
    for (const { table, row, drop } of writes) {
      const groups = this.#groups(table), name = groupOf(table, row);
      let group = groups.get(name);
      if (!group) groups.set(name, group = new Map());
      if (!drop) group.set(itemOf(table, row), row);
      else if (group.delete(itemOf(table, row)) && group.size === 0) groups.delete(name);
    }
  }

  load(wants: readonly Want[]): Loaded[] {
    return wants.map((want) => {
      const all = this.group(want.table, want.group);
      const { item } = want;
      return {
        want,
        rows: item === undefined ? all : all.filter((row) => itemOf(want.table, row) === item),
      };
    });
  }

  scan(scan: Scan): (Timer | Rows["outbox"] | Queued | Pick<InvocationRow, "id">)[] {
    const { limit } = scan;
    if (scan.kind === "timers") {
      const { after } = scan;
      const all = this.all("timer").sort(inOrder);
      return (after ? all.filter((timer) => inOrder(timer, after) > 0) : all).slice(0, limit);
    }
    if (scan.kind === "outbox") {
      const { after } = scan;
      return this.all("outbox")
        .filter((row) => !after || compareOutbox(row, { ...after, from: row.from }) > 0)
        .sort(compareOutbox).slice(0, limit);
    }
    if (scan.kind === "fullBuckets") {
      return this.all("bucket").filter(({ fullAt }) => fullAt <= scan.until)
        .map(({ counter }) => ({ id: counter })).slice(0, limit);
    }
    if (scan.kind === "queued") return this.#queued(scan);
    if (scan.kind === "holders") {
      return this.all("invocation")
        .filter(({ id, status }) =>
          holdsSlots(status) && (scan.after === undefined || id > scan.after)
        )
        .sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit);
    }
    if (scan.kind === "ingested") return this.#ingested(scan);
    if (scan.kind === "letters") {
      return this.all("invocation")
        .filter((row) => letterSinceOf(row) !== undefined && row.id > (scan.after ?? ""))
        .map(({ id }) => ({ id })).sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit);
    }
    const found = this.all("invocation").filter(({ status, expiresAt }) =>
      status.kind === "completed" && (expiresAt ?? Infinity) <= scan.until
    );
    return found.map(({ id }) => ({ id })).sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit);
  }

  #queued({ after, isSameQueue, limit }: Scan & { kind: "queued" }): Queued[] {
    const found: Queued[] = [];
    for (const { id, status } of this.all("invocation")) {
      if (status.kind !== "queued") continue;
      if (isSameQueue && status.queue !== after?.queue) continue;
      if (!after || compareQueued(status, after) > 0) {
        found.push({ id, queue: status.queue, seq: status.seq });
      }
    }
    return found.sort(compareQueued).slice(0, limit);
  }

  #ingested({ after, limit }: Scan & { kind: "ingested" }): OfSubscription[] {
    const found: OfSubscription[] = [];
    for (const { id, origin, status } of this.all("invocation")) {
      if (origin.by !== "subscription" || status.kind === "completed") continue;
      if (after === undefined || id > after) found.push({ id, subscription: origin.id });
    }
    return found.sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit);
  }

  find<T extends Table>(table: T, name: string, item: Item = ""): Rows[T] | undefined {
    return this.#groups(table).get(name)?.get(item) as Rows[T] | undefined;
  }

  /** In the order of items. */
  group<T extends Table>(table: T, name: string): Rows[T][] {
    const rows = [...this.#groups(table).get(name)?.values() ?? []] as Rows[T][];
    return rows.sort((a, b) => itemOf(table, a) < itemOf(table, b) ? -1 : 1);
  }

  /** The groups of a table that have rows. */
  *groups(table: Table): Generator<string> {
    for (const [name, rows] of this.#groups(table)) if (rows.size > 0) yield name;
  }

  all<T extends Table>(table: T): Rows[T][] {
    const rows: Rows[Table][] = [];
    for (const group of this.#groups(table).values()) rows.push(...group.values());
    return rows as Rows[T][];
  }

  #groups(table: Table): Groups {
    const groups = this.#tables.get(table);
    if (!groups) throw new RangeError(`There is no table "${table}"`);
    return groups;
  }
}

function inOrder(a: Timer, b: Timer): number {
  if (a.due !== b.due) return a.due - b.due;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  const left = timerItem(a), right = timerItem(b);
  return left === right ? 0 : left < right ? -1 : 1;
}
