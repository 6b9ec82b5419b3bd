import type { Write } from "../../src/model/rows.ts";
import type { Lease } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import type { World } from "./world.ts";

/** How long a commit takes, in milliseconds. */
const COMMIT_MS = [0, 0, 1, 8] as const;

/** A store whose commits take their time, and which knows the attempts that they have made durable. */
export class SlowStore extends MemoryStore {
  readonly #world: World;
  readonly #attempts = new Map<string, number>();

  constructor(world: World) {
    super();
    this.#world = world;
  }

  /** How many attempts of an invocation are durable. */
  attemptsOf(id: string): number {
    return this.#attempts.get(id) ?? 0;
  }

  override async commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    await this.#world.sleep(this.#world.chance.pick(COMMIT_MS));
    await super.commit(lease, writes);
    for (const { table, row } of writes) {
      if (table === "invocation" && "attempt" in row) this.#attempts.set(row.id, row.attempt);
    }
  }
}
