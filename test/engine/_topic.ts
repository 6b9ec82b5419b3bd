import type { RecordPart, RecordRequest } from "../../src/engine/event.ts";
import { step } from "../../src/engine/step.ts";
import { type RowView, Turn } from "../../src/engine/turn.ts";
import { recordIdsOf } from "../../src/kafka/record_id.ts";
import { groupOf, type Rows } from "../../src/model/rows.ts";
import { Router } from "../../src/placement/router.ts";
import { Inboxes } from "../../src/partition/inboxes.ts";
import { Resident } from "../../src/partition/resident.ts";
import type { PartitionClient, PartTaken } from "../../src/ports.ts";
import type { SqlRow } from "../../src/ports.ts";
import { mergedSources, spreadSource } from "../../src/storage/move/sources.ts";
import { schema, targetOf } from "../support/schema.ts";

export const SOURCE = { subscription: "sub_1", group: "g", topic: "t", partition: 0 };
const idOf = recordIdsOf(SOURCE);

/** A record by its offset: those of a topic go to objects and to a service. */
export function requestOf(offset: number, key: string | undefined): RecordRequest {
  const target = targetOf(key === undefined ? "greeter/hi" : `counter/${key}/add`);
  const { service, handler } = target;
  const keyed = key === undefined ? {} : { key };
  const identity = { service, handler, isWorkflowRun: false, ...keyed };
  const request = {
    ...idOf(offset, identity),
    target,
    headers: [],
    value: new Uint8Array([offset]),
    origin: { by: "subscription", id: SOURCE.subscription },
    retention: { resultMs: 0, journalMs: 0 },
  } as const;
  return { offset, request };
}

/** One partition of ours, whose rows are all in memory, with what became of records. */
class Home {
  readonly #range: { readonly partition: number; readonly partitions: number };
  readonly #inboxes: Inboxes;
  readonly #resident: Resident;
  readonly #rows = new Map<string, Rows["source"]>();
  /** Ids that are not completed. */
  readonly open = new Set<string>();
  #now = 0;
  #commits = 0;

  constructor(partition: number, partitions: number, inboxLimit: number) {
    this.#range = { partition, partitions };
    this.#inboxes = new Inboxes(inboxLimit);
    this.#resident = new Resident(
      1e9,
      (before, row, isGone) => this.#inboxes.invocationChanged(before, row, isGone),
    );
  }

  put(row: Rows["source"]): void {
    const want = { table: "source", group: groupOf("source", row), item: "" } as const;
    this.#resident.expect(0);
    this.#resident.add([{ want, rows: [row] }]);
    this.#rows.set(want.group, row);
  }

  get sources(): Rows["source"][] {
    return [...this.#rows.values()];
  }

  get counted(): number {
    return this.#inboxes.countOf(SOURCE.subscription);
  }

  /** Returns the offsets that became invocations, and the answer. */
  ingest(part: RecordPart): { readonly made: number[]; readonly taken: PartTaken } {
    const turn = this.#play({ type: "ingested", ...part, reply: 1 });
    const made: number[] = [];
    for (const { table, row } of turn.writes) {
      if (table !== "journal") continue;
      const { id, index, entry } = row as Rows["journal"];
      if (index !== 0 || entry.kind !== "input") continue;
      made.push(entry.value[0]!);
      this.open.add(id);
    }
    const [{ next = 0, isFull = false, settled, homes } = {}] = turn.effects.filter(({ type }) =>
      type === "reply"
    ) as Partial<PartTaken>[];
    const known = {
      ...(settled !== undefined && { settled }),
      ...(homes !== undefined && { homes }),
    };
    return { made, taken: { next, isFull, ...known } };
  }

  kill(id: string): void {
    this.#play({ type: "operated", id, operation: { kind: "kill" }, reply: 1 });
    this.open.delete(id);
  }

  #play(event: Parameters<typeof step>[1]): Turn {
    const turn = new Turn(++this.#now, schema, {
      rows: known(this.#resident),
      range: this.#range,
      inboxes: this.#inboxes,
    });
    step(turn, event);
    this.#resident.apply(turn, ++this.#commits);
    for (const { table, row } of turn.writes) {
      if (table !== "source") continue;
      const source = row as Rows["source"];
      this.#rows.set(groupOf("source", source), source);
    }
    return turn;
  }
}

/** What is not in memory does not exist. */
function known(resident: Resident): RowView {
  return {
    find: (table, group, item) => resident.find(table, group, item) ?? null,
    list: (table, group) => resident.list(table, group) ?? [],
  };
}

/** How a part fares: it arrives, its answer is lost, or it does not arrive. */
export type Fate = "taken" | "unheard" | "lost";

/** All partitions of ours. */
export class Server {
  #homes: Home[];
  readonly #inboxMax: number;
  /** Offsets in the order in which they became invocations. */
  readonly made: number[] = [];

  constructor(partitions: number, inboxMax: number) {
    this.#inboxMax = inboxMax;
    this.#homes = this.#begin(partitions);
  }

  #begin(partitions: number): Home[] {
    const limit = Math.ceil(this.#inboxMax / partitions);
    return Array.from({ length: partitions }, (_, n) => new Home(n, partitions, limit));
  }

  /** Rejects when a part or its answer was lost. */
  ingest(
    batch: { readonly next: number; readonly records: readonly RecordRequest[] },
    fateOf: (partition: number) => Fate,
  ): Promise<PartTaken> {
    const clientOf = (partition: number) => ({
      ingest: async (part: RecordPart) => {
        const fate = fateOf(partition);
        if (fate === "lost") throw new Error("lost");
        const { made, taken } = this.#homes[partition]!.ingest(part);
        this.made.push(...made);
        if (fate === "unheard") throw new Error("unheard");
        return taken;
      },
    });
    const router = new Router({
      partitions: this.#homes.length,
      partitionClient: (partition) => clientOf(partition) as unknown as PartitionClient,
    });
    return router.ingest({ source: SOURCE, ...batch });
  }

  /** Ends one of those that are not completed. */
  end(pick: number): void {
    const open = this.#homes.flatMap((home) => [...home.open].map((id) => ({ home, id })));
    const one = open[pick % open.length];
    one?.home.kill(one.id);
  }

  /** What each partition counts, and what is open. */
  get counts(): { readonly counted: number; readonly open: number }[] {
    return this.#homes.map(({ counted, open }) => ({ counted, open: open.size }));
  }

  /** Another number of partitions. Invocations are not moved: their rows are not what this is about. */
  reshard(partitions: number): void {
    const columns = ({ home, source, ...rest }: Rows["source"]): SqlRow => ({
      body: JSON.stringify({ home, source, ...rest }),
    });
    const rows = this.#homes.flatMap(({ sources }) => sources.map(columns));
    const merged = mergedSources(rows, this.#homes.length);
    this.#homes = this.#begin(partitions);
    for (const row of merged.flatMap((one) => spreadSource(one, partitions))) {
      const body = JSON.parse(row["body"] as string) as Rows["source"];
      this.#homes[body.home]!.put(body);
    }
  }
}
