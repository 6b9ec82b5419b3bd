/**
 * Runs the work of one key strictly in order of arrival; keys run side by side. A key is forgotten
 * when its queue is empty. Work that fails does not stop the work behind it.
 */
export class SerialQueues {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as `work` does, once everything before it in this queue is over. */
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
