const MINUTE_MS = 60_000;
/** Lines of one subscription in a minute: a topic may have thousands of bad records. */
const LINES_MAX = 10;
/** Problems that are known to go on: their repetitions are left out. The oldest are forgotten. */
const KNOWN_MAX = 100;
/** What was not repeated for so long is over. Longer than any wait before something is tried again. */
const OVER_MS = 10 * MINUTE_MS;

export interface ProblemLogOptions {
  /** `notLogged`: how many problems before this one were left out. */
  readonly log: (message: string, notLogged: number) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Which problems of a subscription reach the log: each once while it goes on, and few in a minute. */
export class ProblemLog {
  readonly #options: ProblemLogOptions;
  /** When each was seen last, the oldest first. */
  readonly #known = new Map<string, number>();
  #since = -Infinity;
  #lines = 0;
  #notLogged = 0;

  constructor(options: ProblemLogOptions) {
    this.#options = options;
  }

  /** Whether something is known to be wrong. */
  get isOpen(): boolean {
    return this.#known.size > 0;
  }

  /** Nothing is wrong any more: what comes now is logged again. */
  clear(): void {
    this.#known.clear();
  }

  /** Logs a problem, unless it was there before or there are too many. */
  add(message: string): void {
    const { log, now: clock = Date.now } = this.#options;
    const now = clock();
    const seenAt = this.#known.get(message) ?? -Infinity;
    this.#known.delete(message);
    this.#known.set(message, now);
    if (now < seenAt + OVER_MS) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
    if (now >= this.#since + MINUTE_MS) [this.#since, this.#lines] = [now, 0];
    if (this.#lines++ >= LINES_MAX) return void this.#notLogged++;
    log(message, this.#notLogged);
    this.#notLogged = 0;
  }
}
