/**
 * Steps between two pauses. A step takes some 50 µs, and 300 µs before its code is compiled, so a slice
 * blocks for at most 5 ms.
 */
const SLICE_STEPS = 16;

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

/**
 * JSON of `value`, in a step for each item of its lists and each object `depth` levels below it. A list
 * may be any iterable, so that its items are made as they are encoded. `encode`: makes the text of
 * values at that depth, and of values above it that are no objects.
 */
export function* jsonInSteps(
  value: unknown,
  depth: number,
  encode: (value: unknown) => string = JSON.stringify,
): Generator<void, string> {
  if (typeof value !== "object" || value === null) return encode(value);
  if (depth === 0) {
    yield;
    return encode(value);
  }
  const parts: string[] = [];
  if (Symbol.iterator in value) {
    for (const one of value as Iterable<unknown>) {
      parts.push(yield* jsonInSteps(one, depth - 1, encode));
      yield;
    }
    return `[${parts.join(",")}]`;
  }
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue;
    parts.push(`${JSON.stringify(name)}:${yield* jsonInSteps(one, depth - 1, encode)}`);
  }
  return `{${parts.join(",")}}`;
}
