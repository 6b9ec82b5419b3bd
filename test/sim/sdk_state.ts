import type { Attempt } from "../../src/engine/effect.ts";
import type { Op } from "./program.ts";
import type { Replay } from "./replay.ts";
import type { Ask } from "./sdk_words.ts";
import { bytesOf, textOf } from "./spoken.ts";

type StateOp = Op & { do: "get" | "keys" | "add" | "set" | "clear" | "clearAll" };

/** The state of an object as one attempt knows it. */
export class State {
  readonly #replay: Replay;
  readonly #map: Map<string, string | null>;
  #isPartial: boolean;

  constructor(replay: Replay, state: Attempt["state"]) {
    this.#replay = replay;
    this.#map = new Map(state?.pairs.map(({ name, value }) => [name, textOf(value)]));
    this.#isPartial = state?.partial ?? true;
  }

  *apply(op: StateOp): Generator<Ask, void> {
    switch (op.do) {
      case "get":
        return this.#replay.saw(String(yield* this.#get(op.key)));
      case "keys":
        return yield* this.#keys();
      case "add":
        return this.#set("n", String(Number((yield* this.#get("n")) ?? 0) + 1));
      case "set":
        return this.#set(op.key, `v${this.#replay.digest}`);
      case "clear":
        return this.#clear(op.key);
      case "clearAll":
        return this.#clearAll();
    }
  }

  /** From the map if it knows, else from the server; on replay, whence it came the first time. */
  *#get(key: string): Generator<Ask, string | null> {
    const completion = this.#replay.nextCompletion();
    const known = this.#map.get(key) ?? null;
    const isKnown = this.#map.has(key) || !this.#isPartial;
    const eager = `getEager ${key}`, lazy = `getLazy ${key} ${completion}`;
    if (this.#replay.recordedIs(eager) ?? isKnown) {
      const told = { x: known, key };
      const said = this.#replay.say(eager, told, (bytes) => ({ kind: "getEagerState", bytes }));
      return said.x as string | null;
    }
    const told = { completion, key };
    this.#replay.say(lazy, told, (bytes) => ({ kind: "getLazyState", bytes, key, completion }));
    const { result } = JSON.parse(yield* this.#replay.one(`c${completion}`));
    return result ?? null;
  }

  *#keys(): Generator<Ask, void> {
    const completion = this.#replay.nextCompletion();
    const known = [...this.#map].flatMap(([key, value]) => value === null ? [] : [key]).sort();
    if (this.#replay.recordedIs("getEagerKeys") ?? !this.#isPartial) {
      const x = JSON.stringify(known);
      const all = this.#replay.say(
        "getEagerKeys",
        { x },
        (bytes) => ({ kind: "getEagerStateKeys", bytes }),
      );
      return this.#replay.saw(String(all.x));
    }
    this.#replay.say(`getLazyKeys ${completion}`, { completion }, (bytes) => ({
      kind: "getLazyStateKeys",
      bytes,
      completion,
    }));
    this.#replay.saw(yield* this.#replay.one(`c${completion}`));
  }

  #set(key: string, value: string): void {
    this.#replay.say(`set ${key}=${value}`, { key, value }, (bytes) => ({
      kind: "setState",
      bytes,
      key,
      value: bytesOf(value),
    }));
    this.#map.set(key, value);
  }

  #clear(key: string): void {
    this.#replay.say(`clear ${key}`, { key }, (bytes) => ({ kind: "clearState", bytes, key }));
    this.#map.set(key, null);
  }

  #clearAll(): void {
    this.#replay.say("clearAll", {}, (bytes) => ({ kind: "clearAllState", bytes }));
    this.#map.clear();
    this.#isPartial = false;
  }
}
