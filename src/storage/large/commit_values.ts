import type { Rows, Write } from "../../model/rows.ts";
import type { Lease, Statement } from "../../ports.ts";
import type { LargeRef } from "../codec/large_ref.ts";
import { isWithin, piecesOf, type Value } from "./pieces.ts";
import type { LargeLimits } from "./values.ts";

export interface CommitValuesOptions extends Pick<LargeLimits, "pieceBytes" | "valueBytesMin"> {
  readonly lease: Lease;
  readonly nextId: () => string;
  /** A reference to the staged value that contains these bytes. */
  readonly staged: (part: Uint8Array) => LargeRef | undefined;
  /** Called with the id of each value that the commit has. */
  readonly entered: (id: string) => void;
}

/** The values that one commit writes, in its own transaction. */
export class CommitValues {
  readonly #options: CommitValuesOptions;
  readonly #values = new Map<ArrayBufferLike, Value[]>();

  /** `writes`: of the commit. What they share is found, in whatever order they are. */
  constructor(writes: readonly Write[], options: CommitValuesOptions) {
    this.#options = options;
    // An output, or a value of state, is a part of the command that set it.
    for (const { table, row, drop } of writes) {
      if (table !== "journal" || drop) continue;
      const { entry } = row as Rows["journal"];
      if (entry.kind === "command") this.refOf(entry.bytes);
    }
  }

  /**
   * A reference for the bytes of a row: to a staged value, to a value of this commit that contains them,
   * or to a new one. Undefined: they are small, and are stored in their row.
   */
  refOf(bytes: Uint8Array): LargeRef | undefined {
    const { staged, valueBytesMin, nextId, entered } = this.#options;
    const ref = staged(bytes);
    if (ref || bytes.length < valueBytesMin) return ref;
    const beside = this.#values.get(bytes.buffer) ?? [];
    const known = beside.find((value) => isWithin(value.bytes, bytes));
    if (known) {
      const from = bytes.byteOffset - known.bytes.byteOffset;
      return { id: known.id, from, size: bytes.length };
    }
    const value = { id: nextId(), bytes };
    this.#values.set(bytes.buffer, [...beside, value]);
    entered(value.id);
    return { id: value.id, from: 0, size: bytes.length };
  }

  /** The statements that write the values. */
  pieces(): Statement[] {
    const { lease, pieceBytes } = this.#options;
    const all = [...this.#values.values()].flat();
    return all.flatMap((value) => [...piecesOf(value, lease, pieceBytes)]);
  }
}
