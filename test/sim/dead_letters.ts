import { type InvocationRow, letterSinceOf } from "../../src/model/invocation.ts";
import type { LetterRef } from "../../src/model/kafka.ts";
import type { Write } from "../../src/model/rows.ts";
import type { LettersRequest, PartitionClient } from "../../src/ports.ts";
import { ask } from "./asking.ts";
import { Injected } from "./connection.ts";
import type { Limits } from "./faults.ts";
import { isPutToEnd } from "./invocation_record.ts";
import { must } from "./must.ts";
import { type SidecarOptions, Unanswered } from "./sidecar.ts";

export interface DeadLettersOptions extends Omit<SidecarOptions, "topic"> {
  readonly limits: Pick<Limits, "lettersAfter">;
}

/**
 * Who writes the dead letters of records whose attempts are used up, and what must hold: no invocation
 * fails of it before its letter is written, and none waits for ever.
 */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  /** The attempt for which a letter is owed, by id. */
  readonly #owed = new Map<string, number>();
  readonly #written = new Set<string>();
  /** Those that are completed: their rows may be written once more. */
  readonly #completed = new Set<string>();
  #told: LetterRef[] = [];

  constructor(options: DeadLettersOptions) {
    this.#options = options;
    this.#live().catch((cause) => options.failed(cause));
  }

  /** A commit of a partition of ours. */
  commit(writes: readonly Write[]): void {
    for (const { table, row, drop } of writes) {
      if (table !== "invocation") continue;
      const { id } = row as InvocationRow;
      if (drop) {
        this.#owed.delete(id);
        this.#completed.delete(id);
      } else this.#changed(row as InvocationRow);
    }
  }

  #changed(row: InvocationRow): void {
    const { id, attempt, status, origin, failures } = row;
    if (origin.by !== "subscription") return;
    const { history, limits: { lettersAfter } } = this.#options;
    const owed = this.#owed.get(id);
    this.#owed.delete(id);
    if (letterSinceOf(row) !== undefined) this.#owed.set(id, attempt);
    if (status.kind === "backingOff") {
      must(failures < lettersAfter, () => `"${id}" retries after ${failures} failures`);
    }
    const isFirst = !this.#completed.has(id);
    if (status.kind === "completed") this.#completed.add(id);
    else this.#completed.delete(id);
    if (status.kind !== "completed" || !status.failure || !isFirst) return;
    if (isPutToEnd({ kind: "failure", failure: status.failure })) return;
    if (owed !== undefined) {
      must(
        this.#written.has(nameOf({ id, attempt: owed })),
        () => `"${id}" fails without a letter`,
      );
    } else if (status.failure.message === row.lastFailure?.message) {
      const hasGivenUp = history.record(id).gaveUp?.attempt === attempt;
      must(hasGivenUp || lettersAfter === Infinity, () => `"${id}" fails, and no letter was owed`);
    }
  }

  /** Sidecars, which may die with letters that they were to write, or before they say so. */
  async #live(): Promise<void> {
    const { world, faults } = this.#options, { chance } = world;
    for (;;) {
      await world.sleep(chance.int(50, 400));
      const written = this.#told.splice(0);
      const letters = await this.#exchange({ written, returned: [], bytesMax: 1e6 });
      // A sidecar that lives tells them again.
      const mayLive = !letters && (!chance.happens(0.5) || faults().sidecarLost === 0);
      if (mayLive) this.#told.push(...written);
      for (const { id, attempt } of letters ?? []) {
        if (chance.happens(faults().sidecarLost)) continue;
        this.#written.add(nameOf({ id, attempt }));
        for (let n = chance.pick([1, 1, 2]); n > 0; n--) this.#told.push({ id, attempt });
      }
    }
  }

  /** Undefined: some partition did not answer, or its store did not. */
  async #exchange(request: LettersRequest) {
    const { Router, partitions, ownerOf } = this.#options;
    const letters = async (partition: number, part: LettersRequest) => {
      const put = (client: PartitionClient) => client.letters(part);
      const found = await ask(this.#options, ownerOf(partition), put);
      if (!found) throw new Unanswered();
      return found;
    };
    const partitionClient = (partition: number) => (
      { letters: (part: LettersRequest) => letters(partition, part) } as unknown as PartitionClient
    );
    try {
      return await new Router({ partitions, partitionClient }).letters(request);
    } catch (cause) {
      // A read that fails is an answer to this request alone: rows are read again for the next one.
      if (cause instanceof Unanswered || cause instanceof Injected) return undefined;
      throw cause;
    }
  }
}

function nameOf({ id, attempt }: LetterRef): string {
  return `${id} ${attempt}`;
}
