const NONE = new Float64Array(0);

/** The service and handler name under which a `ByHandler` counts handlers beyond its limit. */
export const OTHER = "other";

/** `size` numbers for each handler, in a table that grows with the handlers. */
export class ByHandler {
  readonly #size: number;
  readonly #handlersMax: number;
  #handlers = 0;
  readonly #services = new Map<string, Map<string, Float64Array>>();
  /** The handler of the last call, which mostly is that of the next call. */
  #last: readonly [service: string, handler: string, numbers: Float64Array] = ["", "", NONE];

  /** `handlersMax`: handlers beyond it share the numbers of `OTHER`. */
  constructor(size = 1, handlersMax = Infinity) {
    this.#size = size;
    this.#handlersMax = handlersMax;
  }

  /** Adds `by` to number `at` of a handler. */
  add(
    target: { readonly service: string; readonly handler: string },
    at: number,
    by: number,
  ): void {
    const numbers = this.of(target.service, target.handler);
    numbers[at] = (numbers[at] ?? 0) + by;
  }

  of(service: string, handler: string): Float64Array {
    const last = this.#last;
    if (last[0] === service && last[1] === handler && last[2] !== NONE) return last[2];
    const numbers = this.#services.get(service)?.get(handler) ?? this.#begin(service, handler);
    this.#last = [service, handler, numbers];
    return numbers;
  }

  #begin(service: string, handler: string): Float64Array {
    if (this.#handlers >= this.#handlersMax && service !== OTHER) return this.of(OTHER, OTHER);
    let handlers = this.#services.get(service);
    if (!handlers) this.#services.set(service, handlers = new Map());
    const numbers = new Float64Array(this.#size);
    handlers.set(handler, numbers);
    this.#handlers++;
    return numbers;
  }

  *[Symbol.iterator](): Generator<readonly [string, string, Float64Array]> {
    for (const [service, handlers] of this.#services) {
      for (const [handler, numbers] of handlers) yield [service, handler, numbers];
    }
  }
}
