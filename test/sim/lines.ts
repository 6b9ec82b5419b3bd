import type { Rows } from "../../src/model/rows.ts";
import { must } from "./must.ts";

/** A row of an inbox. Each that is written is a new one, whatever was in its place. */
interface Place {
  readonly seq: number;
  readonly id: string;
}

/** Who waits for an object, and that they are served in the order they came. */
export class Lines {
  readonly #holders = new Map<string, string>();
  readonly #waiting = new Map<string, Map<number, Place>>();
  readonly #skipped: { object: string; holder: string; line: Place[] }[] = [];

  /** A lock is written before the inbox of the same turn: its line is still the old one. */
  lock({ object, holder }: Rows["lock"], drop: boolean): void {
    const before = this.#holders.get(object);
    if (drop) this.#holders.delete(object);
    else this.#holders.set(object, holder);
    if (drop || before === undefined || before === holder) return;
    const line = [...this.#waiting.get(object)?.values() ?? []];
    const { seq: own } = line.find(({ id }) => id === holder) ?? { seq: Infinity };
    this.#skipped.push({ object, holder, line: line.filter(({ seq }) => seq < own) });
  }

  inbox({ object, seq, id }: Rows["inbox"], drop: boolean): void {
    let line = this.#waiting.get(object);
    if (!line) this.#waiting.set(object, line = new Map());
    if (drop) line.delete(seq);
    else line.set(seq, { seq, id });
  }

  /** The commit is complete. Who stood before the new holder was canceled, and waits no more. */
  settle(): void {
    for (const { object, holder, line } of this.#skipped.splice(0)) {
      // Places are given out anew once nobody holds the object, even to who had the same before.
      const next = line.find((place) => this.#waiting.get(object)?.get(place.seq) === place);
      must(!next, () => `"${object}" went to "${holder}", and "${next?.id}" was next`);
    }
  }
}
