/** Bytes of a large value: `size` of them, from byte `from` on, counted from 0. */
export interface LargeRef {
  /** `partition/epoch/number`. */
  readonly id: string;
  readonly from: number;
  readonly size: number;
}

/** The bytes that a reference names. Undefined: the value does not have them. */
export function partOf(
  value: Uint8Array | undefined,
  { from, size }: LargeRef,
): Uint8Array | undefined {
  return value && from + size <= value.length ? value.subarray(from, from + size) : undefined;
}

/** A reference as the tables and the log hold it: JSON. */
export function printRef({ id, from, size }: LargeRef): string {
  return JSON.stringify([id, from, size]);
}

/** The reverse of `printRef`. Undefined: the text is not a reference. */
export function readRef(large: string): LargeRef | undefined {
  try {
    const [id, from, size] = JSON.parse(large) as [string, number, number];
    return { id, from, size };
  } catch {
    // Any error of the parser means that the column is damaged.
    return undefined;
  }
}
