/** Greater than every HTTP status. */
const STATUSES_END = 600;

/** Counts answers by route and status. Routes are few and named by the interface, never by a caller. */
export class RouteCounts {
  readonly #routes = new Map<string, Float64Array>();

  add(route: string, status: number): void {
    let counts = this.#routes.get(route);
    if (!counts) this.#routes.set(route, counts = new Float64Array(STATUSES_END));
    counts[status] = (counts[status] ?? 0) + 1;
  }

  *[Symbol.iterator](): Generator<readonly [route: string, status: number, count: number]> {
    for (const [route, counts] of this.#routes) {
      for (const [status, count] of counts.entries()) {
        if (count > 0) yield [route, status, count];
      }
    }
  }
}
