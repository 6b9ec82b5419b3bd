/**
 * Runs the work of one lane strictly one after another, in the order it came; lanes run side by
 * side. A lane is forgotten when it is empty. Work that fails does not stop those behind it.
 */
export class SerialQueues {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as `work` does, once everything before it in this lane is over. */
  async run<T>(queue: string, work: () => Promise<T>): Promise<T> {
    const mine = after(this.#tails.get(queue), work);
    const tail = mine.catch(() => {});
    this.#tails.set(queue, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(queue) === tail) this.#tails.delete(queue);
    }
  }
}

async function after<T>(tail: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
  await tail;
  return await work();
}
