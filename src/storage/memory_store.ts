import { assert } from "../assert.ts";
import type { Queued } from "../engine/flow/slots.ts";
import { holdsSlots, type InvocationRow, letterSinceOf } from "../model/invocation.ts";
import {
  groupOf,
  type Item,
  itemOf,
  type Rows,
  type Table,
  TABLES,
  type Timer,
  type Want,
  type Write,
} from "../model/rows.ts";
import {
  Fenced,
  type InvocationStatus,
  type Lease,
  type Loaded,
  type StatusPage,
  type Store,
} from "../ports.ts";
import type { Holder, OfSubscription, Scan, ScanRow } from "../scan.ts";
import {
  compareItems,
  compareOutbox,
  compareQueued,
  compareText,
  compareTimers,
} from "./codec/order.ts";

type Group = Map<Item, Rows[Table]>;

/** The rows of one partition. */
interface Partition {
  epoch: number;
  readonly tables: ReadonlyMap<Table, Map<string, Group>>;
}

/**
 * The model of a store: tests compare every other store with it. It takes the part of the database, so
 * it outlives its owners: each `claim` fences the earlier one, and a stale lease is refused. It keeps
 * rows by reference, so callers must not change them.
 */
export class MemoryStore implements Store {
  readonly #partitions = new Map<number, Partition>();

  claim(partition: number): Promise<Lease> {
    let known = this.#partitions.get(partition);
    if (!known) {
      known = { epoch: 0, tables: new Map(TABLES.map((table) => [table, new Map()])) };
      this.#partitions.set(partition, known);
    }
    known.epoch++;
    return Promise.resolve({ partition, epoch: known.epoch });
  }

  load(lease: Lease, wants: readonly Want[]): Promise<readonly Loaded[]> {
    const partition = this.#held(lease);
    if (!partition) return Promise.reject(new Fenced());
    return Promise.resolve(wants.map((want) => ({ want, rows: find(partition, want) })));
  }

  commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    const partition = this.#held(lease);
    if (!partition) return Promise.reject(new Fenced());
    for (const write of writes) apply(partition, write);
    return Promise.resolve();
  }

  scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    const partition = this.#held(lease);
    if (!partition) return Promise.reject(new Fenced());
    return Promise.resolve(found(partition, scan).slice(0, scan.limit) as ScanRow<Q>[]);
  }

  scanStatuses(lease: Lease, { after, limit }: StatusPage): Promise<readonly InvocationStatus[]> {
    const partition = this.#held(lease);
    if (!partition) return Promise.reject(new Fenced());
    const found = rows(partition, "invocation")
      .filter(({ id }) => after === undefined || compareText(id, after) > 0)
      .sort((a, b) => compareText(a.id, b.id))
      .slice(0, limit)
      .map(({ id, target: { service, handler }, status: { kind: status } }) => (
        { id, service, handler, status }
      ));
    return Promise.resolve(found);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #held({ partition, epoch }: Lease): Partition | undefined {
    const known = this.#partitions.get(partition);
    return known?.epoch === epoch ? known : undefined;
  }
}

function apply(partition: Partition, { table, row, drop }: Write): void {
  const groups = partition.tables.get(table);
  assert(groups, "A partition has every table");
  const name = groupOf(table, row);
  const group = groups.get(name) ?? new Map<Item, Rows[Table]>();
  if (drop) group.delete(itemOf(table, row));
  else group.set(itemOf(table, row), row);
  if (group.size > 0) groups.set(name, group);
  else groups.delete(name);
}

function find(partition: Partition, { table, group, item }: Want): readonly Rows[Table][] {
  const items = partition.tables.get(table)?.get(group);
  if (!items) return [];
  if (item === undefined) {
    return [...items].sort(([a], [b]) => compareItems(a, b)).map(([, row]) => row);
  }
  const row = items.get(item);
  return row ? [row] : [];
}

type Found = Timer | Rows["outbox"] | Queued | OfSubscription | Pick<InvocationRow, "id">;

function found(partition: Partition, scan: Scan): Found[] {
  if (scan.kind === "outbox") return underWay(partition, scan.after);
  if (scan.kind === "timers") {
    const { after } = scan;
    return rows(partition, "timer")
      .filter((timer) => !after || compareTimers(timer, after) > 0)
      .sort(compareTimers);
  }
  if (scan.kind === "fullBuckets") return fullBuckets(partition, scan.until);
  const all = rows(partition, "invocation");
  if (scan.kind === "holders") return holders(all, scan.after);
  if (scan.kind === "queued") return queued(all, scan);
  if (scan.kind === "ingested") return ingested(all, scan.after);
  if (scan.kind === "letters") return letters(all, scan.after);
  return expired(all, scan.until).map(({ id }) => ({ id }));
}

function fullBuckets(partition: Partition, until: number): Pick<InvocationRow, "id">[] {
  return rows(partition, "bucket")
    .filter(({ fullAt }) => fullAt <= until)
    .sort((a, b) => a.fullAt - b.fullAt || compareText(a.counter, b.counter))
    .map(({ counter }) => ({ id: counter }));
}

function underWay(
  partition: Partition,
  after: Pick<Rows["outbox"], "to" | "seq"> | undefined,
): Rows["outbox"][] {
  return rows(partition, "outbox")
    .filter((row) => !after || compareOutbox(row, { ...after, from: row.from }) > 0)
    .sort(compareOutbox);
}

function holders(all: InvocationRow[], after: string | undefined): Holder[] {
  return all
    .filter(({ id, status }) =>
      holdsSlots(status) && (after === undefined || compareText(id, after) > 0)
    )
    .sort((a, b) => compareText(a.id, b.id))
    .map(({ id, target, limitKey, status }) => ({ id, target, limitKey, status }));
}

function queued(
  all: InvocationRow[],
  { after, isSameQueue }: Scan & { kind: "queued" },
): Queued[] {
  const found: Queued[] = [];
  for (const { id, status } of all) {
    if (status.kind !== "queued") continue;
    const { queue, seq } = status;
    const isAfter = !after || compareQueued(status, after) > 0;
    if (isAfter && !(isSameQueue && queue !== after?.queue)) found.push({ id, queue, seq });
  }
  return found.sort(compareQueued);
}

function ingested(all: InvocationRow[], after: string | undefined): OfSubscription[] {
  const found: OfSubscription[] = [];
  for (const { id, origin, status } of all) {
    if (origin.by !== "subscription" || status.kind === "completed") continue;
    if (after === undefined || compareText(id, after) > 0) {
      found.push({ id, subscription: origin.id });
    }
  }
  return found.sort((a, b) => compareText(a.id, b.id));
}

function letters(all: InvocationRow[], after: string | undefined): Pick<InvocationRow, "id">[] {
  return all
    .filter((row) =>
      letterSinceOf(row) !== undefined && (after === undefined || compareText(row.id, after) > 0)
    )
    .map(({ id }) => ({ id }))
    .sort((a, b) => compareText(a.id, b.id));
}

function expired(all: InvocationRow[], until: number): InvocationRow[] {
  return all
    .filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= until)
    .sort((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0) || compareText(a.id, b.id));
}

function rows<T extends Table>(partition: Partition, table: T): Rows[T][] {
  const groups = [...partition.tables.get(table)?.values() ?? []];
  return groups.flatMap((group) => [...group.values()]) as Rows[T][];
}
