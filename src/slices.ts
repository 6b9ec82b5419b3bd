/** Steps between two pauses. A step is some 50 µs of work, so a slice blocks for a few milliseconds. */
const SLICE_STEPS = 64;

/**
 * Runs work that takes long, and lets other events be handled after every `SLICE_STEPS` steps of it.
 * `soon`: as in `Clock`. Resolves with what `steps` returns, and rejects with what it throws.
 */
export async function inSlices<T>(
  steps: Generator<void, T>,
  soon: (call: () => void) => void,
): Promise<T> {
  for (let count = 1;; count++) {
    const { done, value } = steps.next();
    if (done) return value;
    if (count % SLICE_STEPS === 0) await new Promise<void>((resolve) => soon(resolve));
  }
}
