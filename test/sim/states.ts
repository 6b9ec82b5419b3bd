import type { Effect } from "../../src/engine/effect.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { type Entry, entryType } from "../../src/model/journal.ts";
import type { Rows } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import { must } from "./must.ts";
import { type Spoken, textOf } from "./spoken.ts";
import { type InvocationRecord, isSame } from "./invocation_record.ts";

/** State as the journaled writes make it, and that it is seen as it is. */
export class States {
  /** By object and name. */
  readonly objects = new Map<string, Map<string, string>>();
  /** How often `n` was counted, by object and invocation. */
  readonly counts = new Map<string, number>();
  /** Objects whose count somebody may have gone back on. */
  readonly uncounted = new Set<string>();

  /** Objects of which some writes were never seen: what the disk has must do. */
  readonly unknown = new Set<string>();

  /** Takes what is on the disk for the truth, where nobody can know it. */
  adopt(rows: readonly Rows["state"][]): void {
    for (const object of this.unknown) {
      const state = new Map<string, string>();
      for (const row of rows) if (row.object === object) state.set(row.name, textOf(row.value));
      this.objects.set(object, state);
      this.uncounted.add(object);
    }
    this.unknown.clear();
  }

  /** A command was stored. */
  command(
    { row, copied }: InvocationRecord,
    type: number,
    { key: name = "", value = "" }: Spoken,
  ): void {
    const { id, target: { service, key, scope } } = row;
    if (key === undefined) return;
    const object = objectOf(service, key, scope), state = this.#object(object);
    if (type === entryType.setState) {
      if (name === "n") this.#count(id, object, { value, state, copied });
      state.set(name, value);
    } else if (type === entryType.clearState) state.delete(name);
    else if (type === entryType.clearAllState) state.clear();
  }

  forget(object: string): void {
    this.objects.get(object)?.clear();
  }

  /** A lazy read by who holds the object must see every write before it, and none after. */
  lazy(
    { row, entries, spoken }: InvocationRecord,
    { type, id, result }: Entry & { kind: "notification" },
  ) {
    const { service, key, scope } = row.target, asked = entries.at(-2);
    if (key === undefined || asked?.kind !== "command" || id.kind !== "completion") return;
    const state = this.#object(objectOf(service, key, scope));
    if (type === entryType.getLazyStateCompletion) {
      const value = state.get(spoken.get(id.id)?.key ?? "");
      const seen = result.kind === "value" ? textOf(result.value) : undefined;
      must(seen === value, () => `"${row.id}" read "${seen}", and it was "${value}"`);
    } else if (type === entryType.getLazyStateKeysCompletion) {
      const seen = result.kind === "stateKeys" ? [...result.keys].sort() : [];
      must(isSame(seen, [...state.keys()].sort()), () => `"${row.id}" read the wrong keys`);
    }
  }

  /** The map that goes with an attempt is the state of the moment. */
  eager({ state }: Effect & { type: "attempt" }, { target, id }: InvocationRow): void {
    const { service, key, scope, access } = target;
    if (!state || key === undefined || access === "shared") return;
    const truth = this.#object(objectOf(service, key, scope));
    for (const { name, value } of state.pairs) {
      must(truth.get(name) === textOf(value), () => `"${id}" was given a false "${name}"`);
    }
    must(
      state.partial || state.pairs.length === truth.size,
      () => `"${id}" was given ${state.pairs.length} of ${truth.size} names`,
    );
  }

  /** Counts are read and written by one holder at a time: none is lost. */
  #count(id: string, object: string, { value, state, copied }: {
    value: string;
    state: Map<string, string>;
    copied: number;
  }): void {
    // What was read before the copy was made may be outdated.
    if (copied > 1) this.uncounted.add(object);
    const before = Number(state.get("n") ?? 0);
    const isNext = Number(value) === before + 1;
    must(isNext || this.uncounted.has(object), () => `"${object}" counted ${value}`);
    this.counts.set(`${object} ${id}`, (this.counts.get(`${object} ${id}`) ?? 0) + 1);
  }

  #object(object: string): Map<string, string> {
    let state = this.objects.get(object);
    if (!state) this.objects.set(object, state = new Map());
    return state;
  }
}
