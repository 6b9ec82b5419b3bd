import type { Rows } from "../../src/model/rows.ts";
import { must } from "./must.ts";

/** Who waits for an object, and that they are served in the order they came. */
export class Lines {
  readonly #holders = new Map<string, string>();
  readonly #waiting = new Map<string, Map<number, string>>();
  readonly #skipped: { object: string; holder: string; seqs: number[] }[] = [];

  /** A lock is written before the inbox of the same turn: its line is still the old one. */
  lock({ object, holder }: Rows["lock"], drop: boolean): void {
    const before = this.#holders.get(object);
    if (drop) this.#holders.delete(object);
    else this.#holders.set(object, holder);
    if (drop || before === undefined || before === holder) return;
    const line = [...this.#waiting.get(object) ?? []];
    const [own = Infinity] = line.find(([, id]) => id === holder) ?? [];
    const seqs = line.flatMap(([seq]) => seq < own ? [seq] : []);
    this.#skipped.push({ object, holder, seqs });
  }

  inbox({ object, seq, id }: Rows["inbox"], drop: boolean): void {
    let line = this.#waiting.get(object);
    if (!line) this.#waiting.set(object, line = new Map());
    if (drop) line.delete(seq);
    else line.set(seq, id);
  }

  /** The commit is complete. Who stood before the new holder was canceled, and waits no more. */
  settle(): void {
    for (const { object, holder, seqs } of this.#skipped.splice(0)) {
      const next = seqs.flatMap((seq) => this.#waiting.get(object)?.get(seq) ?? []);
      must(next.length === 0, () => `"${object}" went to "${holder}", and "${next[0]}" was next`);
    }
  }
}
