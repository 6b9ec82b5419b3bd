/** A Prometheus histogram. Counting a value allocates nothing. */
export class Histogram {
  /** Upper bounds, inclusive, ascending. One more bucket counts the values above the last one. */
  readonly bounds: readonly number[];
  /** The number of values of each bucket: above the bound before, up to its own. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    const { bounds, counts } = this;
    const at = bucketOf(bounds, value);
    counts[at] = (counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** The index of a value's bucket: that of the first bound that is not below the value. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0;
  while (at < bounds.length && value > (bounds[at] ?? Infinity)) at++;
  return at;
}
