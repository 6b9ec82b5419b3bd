import type { Write } from "../../model/rows.ts";
import type { Lease, Statement } from "../../ports.ts";
import type { LargeRef } from "../codec/large_ref.ts";
import type { Layer } from "../overlay/layer.ts";
import { CommitValues } from "./commit_values.ts";
import { isWithin, piecesOf, type Value } from "./pieces.ts";
import { condemn } from "./unused.ts";

export interface LargeLimits {
  /** Bytes of a piece. It is one row, and of a staged value one transaction: commits can run between. */
  readonly pieceBytes: number;
  /** Bytes from which on a part of a staged value is stored as a reference. Smaller ones are copied. */
  readonly refBytesMin: number;
  /** Bytes from which on the bytes of a row are a value that its commit writes. */
  readonly valueBytesMin: number;
}

interface Staged extends Value {
  /** Whether a commit refers to it. */
  isRecorded: boolean;
  isReleased: boolean;
}

/**
 * Large values of one lease (docs/spec/storage-layout.md#large-values). The largest are staged: written
 * in pieces before the commit that refers to them, so that a commit and a fold of 30 MB take no longer
 * than those of a reference. The others are written by their commit. The bytes of a row are matched to
 * their value by their buffer, because the engine passes on views of the bytes that it received.
 *
 * Values are deleted by folds, when no row of the tables refers to them. No unfolded commit may refer to
 * them either. So commits refer to a staged value only until the first fold that begins after its
 * release, and that fold still keeps it; no other commit refers to a value that a commit wrote.
 */
export class LargeValues {
  readonly #lease: Lease;
  readonly #limits: LargeLimits;
  readonly #write: (piece: Statement) => Promise<void>;
  #staged: Staged[] = [];
  /** Values that were recorded since the last freeze, and that later commits do not refer to. */
  #closed: string[] = [];
  /** Those among them to which no row refers that a fold wrote. The log may still refer to them. */
  #given: string[] = [];
  #number = 0;

  /** `write` makes one piece durable, exactly as it is or not at all. */
  constructor(lease: Lease, limits: LargeLimits, write: (piece: Statement) => Promise<void>) {
    this.#lease = lease;
    this.#limits = limits;
    this.#write = write;
  }

  /**
   * Makes a value durable. The caller must not change the bytes. Resolves with a function that releases
   * the value, to be called when the commit that may refer to it is durable: without that call its
   * pieces stay until the next claim. Rejects as `write` does.
   */
  async stage(bytes: Uint8Array): Promise<() => void> {
    const value: Staged = { id: this.#nextId(), bytes, isRecorded: false, isReleased: false };
    for (const piece of piecesOf(value, this.#lease, this.#limits.pieceBytes)) {
      await this.#write(piece);
    }
    this.#staged.push(value);
    return () => void (value.isReleased = true);
  }

  /** The values of the next commit. */
  commit(writes: readonly Write[]): CommitValues {
    return new CommitValues(writes, {
      lease: this.#lease,
      ...this.#limits,
      nextId: () => this.#nextId(),
      staged: (part) => this.#refOf(part),
      entered: (id) => void this.#closed.push(id),
    });
  }

  /** A reference to the staged value that contains these bytes. Undefined: none does. */
  #refOf(part: Uint8Array): LargeRef | undefined {
    if (part.length < this.#limits.refBytesMin) return undefined;
    const value = this.#staged.find(({ bytes }) => isWithin(bytes, part));
    if (!value) return undefined;
    value.isRecorded = true;
    const from = part.byteOffset - value.bytes.byteOffset;
    return { id: value.id, from, size: part.length };
  }

  /**
   * Statements that choose values without references to be deleted: the first of the fold of `layer`,
   * which has all commits since the last call.
   */
  sweep(layer: Layer): Statement[] {
    const released = this.#staged.filter(({ isReleased }) => isReleased);
    const unrecorded = released.filter(({ isRecorded }) => !isRecorded).map(({ id }) => id);
    const kept = this.#staged.filter(({ isReleased, isRecorded }) => isRecorded || !isReleased);
    const given = [...this.#given, ...unrecorded];
    // This fold contains all commits that refer to the released values.
    this.#staged = this.#staged.filter(({ isReleased }) => !isReleased);
    this.#given = unreferred(this.#closed, layer);
    this.#closed = released.filter(({ isRecorded }) => isRecorded).map(({ id }) => id);
    return condemn(this.#lease.partition, { given, kept: kept.map(({ id }) => id) });
  }

  #nextId(): string {
    const { partition, epoch } = this.#lease;
    return `${partition}/${epoch}/${++this.#number}`;
  }
}

/** The values to which no row of the layer refers. */
function unreferred(ids: readonly string[], layer: Layer): string[] {
  if (ids.length === 0) return [];
  const referred = layer.largeIds();
  return ids.filter((id) => !referred.has(id));
}
