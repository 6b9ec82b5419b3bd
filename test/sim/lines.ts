import type { Rows } from "../../src/model/rows.ts";
import { must } from "./must.ts";

/** Who waits for an object, and that they are served in the order they came. */
export class Lines {
  readonly #holders = new Map<string, string>();
  readonly #waiting = new Map<string, Map<number, string>>();

  /** A lock is written before the inbox of the same turn: its line is still the old one. */
  lock({ object, holder }: Rows["lock"], drop: boolean): void {
    const before = this.#holders.get(object);
    if (drop) this.#holders.delete(object);
    else this.#holders.set(object, holder);
    if (drop || before === undefined || before === holder) return;
    const line = this.#waiting.get(object);
    if (!line || line.size === 0) return;
    const first = line.get(Math.min(...line.keys()));
    must(holder === first, () => `"${object}" went to "${holder}", and "${first}" was next`);
  }

  inbox({ object, seq, id }: Rows["inbox"], drop: boolean): void {
    let line = this.#waiting.get(object);
    if (!line) this.#waiting.set(object, line = new Map());
    if (drop) line.delete(seq);
    else line.set(seq, id);
  }
}
