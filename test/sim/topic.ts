import type { RecordRequest } from "../../src/engine/event.ts";
import { recordIdsOf } from "../../src/kafka/record_id.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { type Rows, sourceOf, type Write } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import type { Disk } from "./disk.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { workflowId } from "./names.ts";
import { program } from "./program.ts";
import { KEPT_MS, targetOf } from "./schema.ts";
import { toBytes } from "./spoken.ts";
import type { World } from "./world.ts";

export const SUBSCRIPTION = "sub_1simulated";

/** Where records go. Some ask for one workflow, whose run is one however many ask for it. */
const SINKS = [
  ...["greeter/hi", "greeter/brief", "counter/a/add", "counter/a/add", "counter/b/add"],
  ...["ledger/x/add", "counter/b/peek", "flow/w1/run"],
];

interface Planned extends RecordRequest {
  /** The object whose records must keep their order. */
  readonly object: string | undefined;
  /** A run of a workflow, which other calls may have begun. */
  readonly isRun: boolean;
}

/**
 * A partition of a topic, and what its records must become: each one invocation, however often it is
 * sent, and those of one key in their order.
 */
export class Topic {
  readonly source: Rows["source"]["source"];
  /** The next offset that is written. Offsets without a record are markers of transactions, say. */
  end = 0;
  /** Whether no more is written. */
  isComplete = false;
  readonly #world: World;
  readonly #planned: (Planned | undefined)[];
  readonly #byId = new Map<string, Planned>();
  /** All before it is done with, as the server was told and has answered. */
  noted = 0;
  /** Offsets of those that sidecars have set aside. They may have become invocations as well. */
  readonly #aside = new Set<number>();
  /** Offsets of those that became invocations. */
  readonly #made = new Set<number>();
  /** The last offset of each object. */
  readonly #last = new Map<string, number>();
  /** How far each partition of ours has taken them, by its row. */
  readonly #rows = new Map<string, Rows["source"]>();

  constructor(world: World, partition: number) {
    this.#world = world;
    this.source = { subscription: SUBSCRIPTION, group: "g", topic: "t", partition };
    const idOf = recordIdsOf(this.source), { chance } = world;
    this.#planned = Array.from({ length: chance.int(3, 25) }, (_, offset) => {
      if (chance.happens(0.15)) return undefined;
      const one = planned(world, offset, idOf);
      this.#byId.set(one.request.id, one);
      return one;
    });
  }

  /** Writes the records, a few at a time, within `ms` from now. */
  async write(ms: number): Promise<void> {
    const { chance } = this.#world, each = Math.ceil(2 * ms / this.#planned.length);
    while (this.end < this.#planned.length) {
      await this.#world.sleep(chance.int(0, each));
      this.end = Math.min(this.#planned.length, this.end + chance.int(1, 4));
    }
    this.isComplete = true;
  }

  /** The records of a batch, from an offset on, without those set aside before `known`. */
  batch(
    from: number,
    size: number,
    known = 0,
  ): { readonly next: number; readonly records: readonly RecordRequest[] } {
    const next = Math.min(this.end, from + size);
    const isPassed = (offset: number) => offset < known && this.#aside.has(offset);
    const records = this.#planned.slice(from, next)
      .filter((one) => one !== undefined && !isPassed(one.offset)) as Planned[];
    return { next, records: records.map(({ offset, request }) => ({ offset, request })) };
  }

  /** A server says that all records before `next` are durable. */
  acknowledged(next: number): void {
    for (const one of this.#planned.slice(0, next)) {
      if (!one || one.isRun || this.#aside.has(one.offset)) continue;
      must(this.#made.has(one.offset), () => `${this.#name(one)} was acknowledged and not made`);
    }
  }

  /** A server says that all records before `known` are done with; `noted`: when it was asked. */
  isKnown(known: number, noted: number): void {
    must(known >= noted, () => `The server knows ${known}, and was told ${noted}`);
    this.acknowledged(Math.min(known, this.#planned.length));
  }

  setAside(offset: number): void {
    this.#aside.add(offset);
  }

  /** All of it was sent and acknowledged. */
  mustBeMade(history: History): void {
    this.acknowledged(this.#planned.length);
    for (const one of this.#planned) {
      must(
        !one || this.#aside.has(one.offset) || history.records.has(one.request.id),
        () => `${one && this.#name(one)} was lost`,
      );
    }
  }

  /** A commit of a partition of ours. `disk`: its rows after it. */
  commit(writes: readonly Write[], disk: Disk): void {
    for (const { table, row, drop } of writes) {
      if (table === "source") this.#moved(row as Rows["source"], drop);
    }
    // A turn writes invocations in the order in which it makes them.
    for (const { table, row } of writes) {
      const one = table === "invocation" && this.#byId.get((row as InvocationRow).id);
      if (one) this.#isMade(one, disk);
    }
  }

  #isMade(one: Planned, disk: Disk): void {
    const { offset, object, isRun, request: { id, origin } } = one;
    if (isRun || this.#made.has(offset)) return;
    this.#made.add(offset);
    const row = disk.find("invocation", id);
    must(
      !row || JSON.stringify(row.origin) === JSON.stringify(origin),
      () => `${this.#name(one)} does not say where it is from`,
    );
    must(offset < this.end, () => `${this.#name(one)} was made and never written`);
    if (object === undefined) return;
    const last = this.#last.get(object) ?? -1;
    must(last < offset, () => `${this.#name(one)} came after ${last} to "${object}"`);
    this.#last.set(object, offset);
  }

  #moved(row: Rows["source"], drop: boolean): void {
    if (row.source.partition !== this.source.partition) return;
    const name = sourceOf(row), before = this.#rows.get(name);
    const isMoved = !before || row.next > before.next || row.settled > before.settled;
    const isBack = before && (row.next < before.next || row.settled < before.settled);
    must(!drop && isMoved && !isBack, () => `"${name}" went from ${before?.next} to ${row.next}`);
    this.#rows.set(name, row);
  }

  #name({ offset }: Planned): string {
    return `Record ${offset} of ${this.source.partition}`;
  }
}

function planned(
  world: World,
  offset: number,
  idOf: ReturnType<typeof recordIdsOf>,
): Planned {
  const { chance } = world, path = chance.pick(SINKS);
  const target = targetOf(path), { service, handler, key, access } = target;
  const isRun = access === "run";
  const identity = { service, handler, isWorkflowRun: isRun, ...(key !== undefined && { key }) };
  // Those that are not kept can be told from new ones by their offsets only.
  const keptMs = isRun ? KEPT_MS : chance.pick([KEPT_MS, 300, 0]);
  const { id, fresh } = idOf(offset, identity);
  return {
    offset,
    isRun,
    object: access === "exclusive" ? objectOf(service, key ?? "", undefined) : undefined,
    request: {
      id: isRun ? workflowId(key ?? "") : id,
      fresh,
      target,
      headers: [],
      value: toBytes(program(chance, path, 1)),
      origin: { by: "subscription", id: SUBSCRIPTION },
      retention: { resultMs: keptMs, journalMs: keptMs },
    },
  };
}

/** No more are unfinished in a partition than its inbox has room for. */
export function mustFit(disk: Disk, limit: number): void {
  const open = disk.all("invocation").filter(({ origin, status }) =>
    origin.by === "subscription" && status.kind !== "completed"
  );
  must(open.length <= limit, () => `${open.length} records are unfinished, and ${limit} may be`);
}
