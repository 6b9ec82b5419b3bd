/** Values counted by size, as Prometheus wants them. Counting one allocates nothing. */
export class Histogram {
  /** Upper bounds, inclusive, rising. What is above the last one is counted behind it. */
  readonly bounds: readonly number[];
  /** How many values lie within each bound and not within the one before. */
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

/** The place of the bucket that a value lies in: that of the first bound which is not below it. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0;
  while (at < bounds.length && value > (bounds[at] ?? Infinity)) at++;
  return at;
}
