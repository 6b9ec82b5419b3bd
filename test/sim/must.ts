/** A promise of the server's that a simulation saw broken. */
export class Broken extends Error {
  override name = "Broken";
}

/** Throws `Broken` unless `condition` holds. The message is made only when it is needed. */
export function must(condition: unknown, message: () => string): asserts condition {
  if (!condition) throw new Broken(message());
}
