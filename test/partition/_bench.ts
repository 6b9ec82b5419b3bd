import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import { step } from "../../src/engine/step.ts";
import { miss, Turn } from "../../src/engine/turn.ts";
import type { Write } from "../../src/model/rows.ts";
import { Resident } from "../../src/partition/resident.ts";
import { Disk } from "../sim/disk.ts";
import type { Schema } from "../../src/model/schema.ts";
import { schema } from "../support/schema.ts";
import type { View } from "./_events.ts";

/** The outcome of a turn. */
export interface Done {
  readonly writes: readonly Write[];
  readonly effects: readonly Effect[];
}

/** An engine over a disk, one event a turn, with a memory of any size. */
export class Bench {
  readonly disk = new Disk();
  readonly #bytesMax: number;
  readonly #schema: Schema;
  #resident: Resident;
  #commit = 0;
  /** Times that rows were loaded. */
  loads = 0;

  constructor(bytesMax: number, given: Schema = schema) {
    this.#bytesMax = bytesMax;
    this.#schema = given;
    this.#resident = new Resident(bytesMax);
  }

  /** Runs an event to its end: misses are loaded, then the turn is durable. */
  run(event: Event, now: number): Done {
    // No row is kept from turn to turn.
    if (this.#bytesMax === 0) this.#resident = new Resident(0);
    for (;;) {
      const turn = new Turn(now, this.#schema, { rows: this.#resident });
      if (applied(turn, event)) return this.#finish(turn);
      this.loads++;
      this.#resident.add(this.disk.load(turn.wants));
    }
  }

  view(now: number): View {
    const row = (id: string) => this.disk.find("invocation", id);
    return {
      now,
      ids: this.disk.all("invocation").map(({ id }) => id),
      attempt: (id) => row(id)?.attempt ?? 1,
      heard: (id) => row(id)?.heard ?? 0,
      timer: (id) => this.disk.group("timer", id)[0],
    };
  }

  #finish(turn: Turn): Done {
    const { writes, effects } = turn;
    this.#resident.apply(turn, ++this.#commit);
    this.disk.apply(this.disk.epoch, writes);
    this.#resident.markDurable(this.#commit);
    return { writes, effects };
  }
}

function applied(turn: Turn, event: Event): boolean {
  try {
    step(turn, event);
    return true;
  } catch (cause) {
    if (cause !== miss) throw cause;
    return false;
  }
}
