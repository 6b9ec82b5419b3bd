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
 * JSON of an object, in a step for each item of its longest list: `head` with its field `name`, which
 * comes last, the list of `items` as `encode` spells each. `head` has at least one field.
 */
export function* jsonInSteps<T>(
  head: string,
  name: string,
  items: Iterable<T>,
  encode: (item: T) => string,
): Generator<void, string> {
  const list: string[] = [];
  for (const item of items) {
    list.push(encode(item));
    yield;
  }
  return `${head.slice(0, -1)},"${name}":[${list.join(",")}]}`;
}
