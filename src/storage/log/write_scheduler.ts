import type { Statement } from "../../ports.ts";
import type { Background } from "../fold/fold_scheduler.ts";
import { ReadBarrier } from "./read_barrier.ts";

type Kind = "commit" | "piece" | "fold";

interface Job {
  readonly statements: readonly Statement[];
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

type Write = (statements: readonly Statement[]) => Promise<void>;

export interface WriteSchedulerOptions {
  /** Writes the rows of one commit. */
  readonly commit: Write;
  /** Writes one batch of a fold. */
  readonly write: Write;
  /** Writes a piece of a large value. */
  readonly put: Write;
  /** Calls `call` after new commits have had time to arrive. */
  readonly soon: (call: () => void) => void;
  /** Called once, at the first failure: nothing is written after it. */
  readonly failed: (cause: unknown) => void;
  /**
   * Whether a commit and a batch of a fold may be in flight at the same time: right where the round
   * trip to the database takes longer than the work.
   */
  readonly overlaps: boolean;
}

/**
 * Decides which write of one lease is sent next. One write is in flight, or one of each kind where
 * writes may overlap. Commits are sent in order and, mostly, before batches of a fold. After a
 * failure nothing is written.
 *
 * Reads start at once, but a fold waits for reads that began before it (`ReadBarrier`).
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
  /** Commits that must be durable before the fold starts. */
  #ahead = 0;
  readonly #barrier = new ReadBarrier(() => this.#schedule());
  /** What is being written. One of each kind at most. */
  readonly #inFlight = new Set<Kind>();
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

  /** The cause of the first failure, if there was one: nothing is written after it. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  /** Resolves when the rows are durable. Rejects with the cause of the first failure of any write. */
  commit(statements: readonly Statement[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.cause);
      this.#commits.push({ statements, resolve, reject });
      this.#schedule();
    });
  }

  /** As `commit`, for a piece of a large value: a waiting commit is sent between any two pieces. */
  put(piece: Statement): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.cause);
      this.#pieces.push({ statements: [piece], resolve, reject });
      this.#schedule();
    });
  }

  /** Hands over a fold. The one before must be finished. */
  begin(background: Background): void {
    this.#background = background;
    this.#ahead = this.#commits.length + (this.#isCommitting ? 1 : 0);
    this.#barrier.raise();
    this.#schedule();
  }

  /** The fold has no more batches. */
  finish(): void {
    this.#background = undefined;
  }

  /**
   * Runs `read` at once; a fold that is handed over while it runs waits for it. Settles as `read`
   * does, or rejects with the cause of an earlier failure.
   */
  async read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#failure) throw this.#failure.cause;
    return await this.#barrier.read(read);
  }

  /** Rejects waiting and later requests with `cause`. Only the first failure counts. */
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
    return this.#inFlight.size > 0;
  }

  get #isCommitting(): boolean {
    return this.#inFlight.has("commit");
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
    if (piece && !this.#inFlight.has("piece")) this.#sendPiece(piece);
    const background = this.#ready();
    if (background && !this.#inFlight.has("fold")) this.#sendBackground(background);
    const [commit] = this.#commits;
    if (!commit || this.#isCommitting) return;
    // The active layer is full: the fold is sent first, so that memory does not grow.
    if (!this.#inFlight.has("fold") || !background?.isUrgent(false)) this.#sendCommit(commit);
  }

  /** The fold, if it may be sent: its commits are durable and older reads have ended. */
  #ready(): Background | undefined {
    return this.#ahead === 0 && this.#barrier.isOpen ? this.#background : undefined;
  }

  /** Sends the fold after commits that callers hand over as a result of the last commit. */
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
    this.#send("commit", () => this.#commit(commit.statements), {
      ...commit,
      resolve: () => {
        if (this.#ahead > 0) this.#ahead--;
        commit.resolve();
      },
    });
  }

  #sendPiece(piece: Job): void {
    this.#pieces.shift();
    this.#send("piece", () => this.#put(piece.statements), piece);
  }

  #sendBackground(background: Background): void {
    this.#send("fold", () => this.#write(background.next()), {
      resolve: () => {
        if (!this.#failure) background.done();
      },
      // The callers that wait for a fold are told by `fail`.
      reject: () => {},
    });
  }

  /** Sends one write, settles it, and sends the next one. */
  #send(
    kind: Kind,
    write: () => Promise<void>,
    { resolve, reject }: Pick<Job, "resolve" | "reject">,
  ): void {
    this.#hasServed = kind === "commit";
    this.#inFlight.add(kind);
    write().then(() => {
      this.#inFlight.delete(kind);
      resolve();
      this.#next();
    }, (cause) => {
      this.#inFlight.delete(kind);
      reject(cause);
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
