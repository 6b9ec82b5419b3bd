import fc from "fast-check";
import { expect, test } from "vitest";
import { Turn } from "../../src/engine/turn.ts";
import type { Rows, Table, Want, Write } from "../../src/model/rows.ts";
import { Resident } from "../../src/partition/resident.ts";
import type { Loaded } from "../../src/ports.ts";
import { Disk } from "../sim/disk.ts";
import { inPages } from "../sim/pages.ts";
import { schema } from "../support/schema.ts";

type State = Rows["state"];

const objects = fc.constantFrom("o1", "o2", "o3", "o4");
const names = fc.constantFrom("a", "b", "c");

/** Operations on the resident rows, as a partition does them. */
type Step =
  | {
    readonly do: "turn";
    readonly writes: readonly { object: string; name: string; drop: boolean }[];
  }
  | { readonly do: "handOver" | "settle" | "answer" | "page" | "used" }
  | { readonly do: "load"; readonly want: Want }
  | { readonly do: "forget"; readonly object: string };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.array(fc.record({ object: objects, name: names, drop: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }).map((writes) => ({ do: "turn", writes }) as const),
    fc.constantFrom("handOver", "handOver", "settle", "answer", "page", "page", "used")
      .map((step) => ({ do: step })),
    fc.oneof(
      objects.map((group) => ({ table: "state", group }) as const),
      fc.tuple(objects, names).map(([group, item]) => ({ table: "state", group, item }) as const),
    ).map((want) => ({ do: "load", want }) as const),
    objects.map((object) => ({ do: "forget", object }) as const),
  ),
  { maxLength: 80, size: "max" },
);

/** Resident rows beside a model: a disk that commits reach late, and a load that is late, too. */
class Scene {
  readonly truth = new Disk();
  readonly disk = new Disk();
  readonly resident: Resident;
  readonly bytesMax: number;
  #value = 0;
  /** Writes by commit: gathered, handed over, durable, in the manner of `Commits`. */
  #gathered: Write[] = [];
  #inFlight: Write[] | undefined;
  #number = 0;
  #durable = 0;
  #answer: Loaded[] | undefined;
  /** Groups that are being loaded page by page, and those that are complete. */
  #arriving: { readonly want: Want; readonly pages: Iterator<readonly Rows[Table][]> }[] = [];
  #arrived: Want[] = [];
  readonly undurable = new Map<string, number>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.resident = new Resident(bytesMax);
  }

  apply(step: Step): void {
    switch (step.do) {
      case "turn":
        // A partition runs no turn while it loads.
        return this.#answer ? undefined : this.#turn(step.writes);
      case "handOver":
        return this.#handOver();
      case "settle":
        return this.#settle();
      case "load":
        if (this.#answer) return;
        this.resident.expect(this.#number);
        // Sees the commits that were handed over, and not the one that is still gathered.
        this.#answer = inPages(this.disk.load([step.want]), 1);
        return;
      case "answer":
        return this.#take();
      case "page":
        return this.#page();
      case "used":
        for (const want of this.#arrived.splice(0)) this.resident.unpin(want);
        return;
      case "forget":
        return this.resident.forget("state", step.object);
    }
  }

  drain(): void {
    for (let i = 0; i < 2; i++) {
      this.#settle();
      this.#handOver();
    }
    this.apply({ do: "answer" });
    while (this.#arriving.length > 0) this.#page();
    this.apply({ do: "used" });
    this.#settle();
    // The next durable commit finds all rows that the load has added.
    this.resident.markDurable(this.#durable);
  }

  #turn(writes: readonly { object: string; name: string; drop: boolean }[]): void {
    const turn = new Turn(0, schema, { rows: this.resident });
    for (const { object, name, drop } of writes) {
      const row: State = { object, name, value: Uint8Array.of(++this.#value) };
      if (drop) turn.drop("state", row);
      else turn.put("state", row);
      this.undurable.set(`${object}/${name}`, this.#number + 1);
    }
    this.resident.apply(turn, this.#number + 1);
    this.truth.apply(0, turn.writes);
    this.#gathered.push(...turn.writes);
  }

  #take(): void {
    for (const { want, pages } of this.resident.add(this.#answer ?? [])) {
      if (pages) this.#arriving.push({ want, pages: pages[Symbol.iterator]() });
    }
    this.#answer = undefined;
  }

  #page(): void {
    const [first] = this.#arriving;
    if (!first) return;
    const { done, value } = first.pages.next();
    this.resident.arrive(first.want, done ? undefined : value);
    if (done) this.#arrived.push(...this.#arriving.splice(0, 1).map(({ want }) => want));
  }

  #handOver(): void {
    if (this.#inFlight || this.#gathered.length === 0) return;
    this.#number++;
    this.#inFlight = this.#gathered;
    this.#gathered = [];
    this.disk.apply(0, this.#inFlight);
  }

  #settle(): void {
    if (!this.#inFlight) return;
    this.#inFlight = undefined;
    this.#durable = this.#number;
    for (const [name, commit] of this.undurable) {
      if (commit <= this.#durable) this.undurable.delete(name);
    }
    this.resident.markDurable(this.#durable);
  }
}

/** Resident rows equal the model, and every row that is not durable is resident. */
function check({ truth, resident, undurable }: Scene): void {
  for (const object of ["o1", "o2", "o3", "o4"]) {
    for (const name of ["a", "b", "c"]) {
      const known = resident.find("state", object, name);
      if (known === undefined) expect(undurable.has(`${object}/${name}`)).toBe(false);
      else expect(known?.value).toEqual(truth.find("state", object, name)?.value);
    }
    const all = resident.list("state", object);
    if (!all) continue;
    const named = [...all].sort((a, b) => a.name < b.name ? -1 : 1);
    expect(named).toEqual(truth.group("state", object));
  }
}

test("resident rows are never stale, and never evicted before they are durable", () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(0, 800, 1e9), (steps, bytesMax) => {
      const scene = new Scene(bytesMax);
      for (const step of steps) {
        scene.apply(step);
        check(scene);
      }
    }),
    { numRuns: 500 },
  );
}, 60_000);

test("when all commits are durable, resident rows are within their bytes", () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(0, 800, 2_000), (steps, bytesMax) => {
      const scene = new Scene(bytesMax);
      for (const step of steps) scene.apply(step);
      scene.drain();
      check(scene);
      expect(scene.resident.bytes).toBeLessThanOrEqual(bytesMax);
    }),
    { numRuns: 500 },
  );
}, 60_000);
