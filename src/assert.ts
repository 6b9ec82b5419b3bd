/** A broken promise of our own code. Never used for bad input: that is a `Failure`. */
export class Bug extends Error {
  override name = "Bug";
}

/** Throws a `Bug` unless `condition` holds. Assertions stay on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/** Ends a `switch` over a union: reached only when a case was forgotten. */
export function unreachable(value: never): never {
  throw new Bug(`Unhandled case ${JSON.stringify(value)}`);
}
