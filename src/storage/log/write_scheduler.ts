import type { Statement } from "../../ports.ts";

/** Work behind the commits, batch by batch. */
export interface Background {
  /** Whether the next batch goes before waiting commits. `served`: a commit went just before. */
  isUrgent(served: boolean): boolean;
  next(): readonly Statement[];
  /** The batch that `next` gave is durable. */
  done(): void;
}

interface Job {
  readonly statements: readonly Statement[];
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

type Write = (statements: readonly Statement[]) => Promise<void>;

export interface WriteSchedulerOptions {
  /** One batch of a commit. */
  readonly commit: Write;
  /** One batch of the background. */
  readonly write: Write;
  /** A piece of a large value. */
  readonly put: Write;
  /** Calls back when new commits have had time to arrive. */
  readonly soon: (call: () => void) => void;
  /** Called once, when nothing will be written any more. */
  readonly failed: (cause: unknown) => void;
  /**
   * Whether a commit and a batch of the background may be on their way at the same time: where the
   * way takes longer than the work.
   */
  readonly overlaps: boolean;
}

/** Reads under way that looked at the overlay at the same stage of folding. */
interface Readers {
  count: number;
}

/**
 * The one way to the database for the owner of a partition. One write is in flight, or one of each
 * kind; commits go in order and, mostly, before the background; after a failure nothing is written
 * any more.
 *
 * Reads go at once. But those that began before the background was handed over must end before it
 * starts: they do not know which rows it moves from the overlay to the tables.
 */
export class WriteScheduler {
  readonly #commit: Write;
  readonly #write: Write;
  readonly #put: Write;
  readonly #soon: WriteSchedulerOptions["soon"];
  readonly #failed: WriteSchedulerOptions["failed"];
  readonly #overlaps: boolean;
  readonly #commits: Job[] = [];
  readonly #pieces: Job[] = [];
  #background: Background | undefined;
  /** Commits that must be durable before the background starts. */
  #ahead = 0;
  /** Reads that must end before the background starts, and those that need not. */
  #earlier: Readers = { count: 0 };
  #readers: Readers = { count: 0 };
  #isCommitting = false;
  #isFolding = false;
  #isPutting = false;
  /** Whether the last write was a commit. */
  #hasServed = false;
  #isYielding = false;
  #failure: { readonly cause: unknown } | undefined;
  #onIdle: (() => void)[] = [];

  constructor({ commit, write, put, soon, failed, overlaps }: WriteSchedulerOptions) {
    this.#overlaps = overlaps;
    this.#commit = commit;
    this.#write = write;
    this.#put = put;
    this.#soon = soon;
    this.#failed = failed;
  }

  /** Why nothing is written any more. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  /** Rejects with the cause of the first failure, this or an earlier one. */
  commit(statements: readonly Statement[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.cause);
      this.#commits.push({ statements, resolve, reject });
      this.#schedule();
    });
  }

  /** As `commit`, of a piece of a large value: a commit goes between any two of them. */
  put(piece: Statement): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.cause);
      this.#pieces.push({ statements: [piece], resolve, reject });
      this.#schedule();
    });
  }

  /** Hands over work for the background. There must be none. */
  begin(background: Background): void {
    this.#background = background;
    this.#ahead = this.#commits.length + (this.#isCommitting ? 1 : 0);
    this.#earlier = this.#readers;
    this.#readers = { count: 0 };
    this.#schedule();
  }

  /** The background has no more to do. */
  finish(): void {
    this.#background = undefined;
  }

  async read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#failure) throw this.#failure.cause;
    const readers = this.#readers;
    readers.count++;
    try {
      return await read();
    } finally {
      readers.count--;
      if (readers === this.#earlier && readers.count === 0) this.#schedule();
    }
  }

  /** Everything waiting is rejected, and everything to come. The first cause stays. */
  fail(cause: unknown): void {
    if (this.#failure) return;
    this.#failure = { cause };
    this.#background = undefined;
    for (const { reject } of this.#commits.splice(0)) reject(cause);
    for (const { reject } of this.#pieces.splice(0)) reject(cause);
    this.#failed(cause);
  }

  /** Resolves when no commit waits and no write is in flight. */
  idle(): Promise<void> {
    if (!this.#isBusy && this.#commits.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  get #isBusy(): boolean {
    return this.#isCommitting || this.#isFolding || this.#isPutting;
  }

  #schedule(): void {
    if (this.#failure) return;
    if (this.#overlaps) return this.#scheduleBoth();
    if (this.#isBusy) return;
    const [commit] = this.#commits;
    const background = this.#ready();
    if (background?.isUrgent(this.#hasServed)) return this.#sendBackground(background);
    const [piece] = this.#pieces;
    if (piece && (this.#hasServed || !commit)) return this.#sendPiece(piece);
    if (commit) return this.#sendCommit(commit);
    if (background) this.#yieldToCommits(background);
  }

  #scheduleBoth(): void {
    const [piece] = this.#pieces;
    if (piece && !this.#isPutting) this.#sendPiece(piece);
    const background = this.#ready();
    if (background && !this.#isFolding) this.#sendBackground(background);
    const [commit] = this.#commits;
    if (!commit || this.#isCommitting) return;
    // Too much is in memory: what is folded goes first.
    if (!this.#isFolding || !background?.isUrgent(false)) this.#sendCommit(commit);
  }

  #ready(): Background | undefined {
    return this.#ahead === 0 && this.#earlier.count === 0 ? this.#background : undefined;
  }

  /** Lets commits go first that are handed over because of what was just committed. */
  #yieldToCommits(background: Background): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.#soon(() => {
      this.#isYielding = false;
      if (this.#isBusy || this.#failure || this.#ready() !== background) return;
      this.#sendBackground(background);
    });
  }

  #sendCommit(commit: Job): void {
    this.#commits.shift();
    this.#hasServed = true;
    this.#isCommitting = true;
    this.#commit(commit.statements).then(() => {
      this.#isCommitting = false;
      if (this.#ahead > 0) this.#ahead--;
      commit.resolve();
      this.#next();
    }, (cause) => {
      this.#isCommitting = false;
      commit.reject(cause);
      this.fail(cause);
      this.#next();
    });
  }

  #sendPiece(piece: Job): void {
    this.#pieces.shift();
    this.#hasServed = false;
    this.#isPutting = true;
    this.#put(piece.statements).then(() => {
      this.#isPutting = false;
      piece.resolve();
      this.#next();
    }, (cause) => {
      this.#isPutting = false;
      piece.reject(cause);
      this.fail(cause);
      this.#next();
    });
  }

  #sendBackground(background: Background): void {
    this.#hasServed = false;
    this.#isFolding = true;
    this.#write(background.next()).then(() => {
      this.#isFolding = false;
      if (!this.#failure) background.done();
      this.#next();
    }, (cause) => {
      this.#isFolding = false;
      this.fail(cause);
      this.#next();
    });
  }

  #next(): void {
    this.#schedule();
    if (this.#isBusy || this.#commits.length > 0) return;
    for (const call of this.#onIdle.splice(0)) call();
  }
}
