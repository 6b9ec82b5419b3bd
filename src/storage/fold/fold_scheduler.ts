import type { Clock, Statement } from "../../ports.ts";
import { statement } from "../codec/sql_text.ts";
import type { Layer } from "../overlay/layer.ts";
import type { Overlay } from "../overlay/overlay.ts";
import { fold, type FoldLimits, PRESSED } from "./fold.ts";
import { foldSql } from "./sql.ts";

export interface FoldSchedulerLimits extends FoldLimits {
  /** A fold begins once the active layer has this many rows or bytes. Commits wait at the double. */
  readonly foldRowsMax: number;
  readonly foldBytesMax: number;
  /** A fold also begins when there was no commit for this long. */
  readonly foldIdleMs: number;
}

/** One fold as the write scheduler sends it: batch by batch, between commits. */
export interface Background {
  /** Whether the next batch is sent before waiting commits. `served`: the last write was a commit. */
  isUrgent(served: boolean): boolean;
  next(): readonly Statement[];
  /** The batch that `next` returned is durable. */
  done(): void;
}

export interface FoldSchedulerOptions {
  readonly partition: number;
  /** The place before the first one of the partition in the log. */
  readonly logFrom: number;
  readonly overlay: Overlay;
  readonly limits: FoldSchedulerLimits;
  /** Absent: no fold begins because of idle time. */
  readonly clock: Clock | undefined;
  /** Chooses large values to be deleted: the first statements of the fold of `layer`. */
  readonly sweep: (layer: Layer) => readonly Statement[];
  /** Deletes some of those that were chosen, `count` at most: statements of every batch. */
  readonly drop: (count: number) => readonly Statement[];
  /** Hands a fold to the write scheduler. It is called again only after `finish`. */
  readonly begin: (background: Background) => void;
  /** The last batch of the fold is durable. */
  readonly finish: () => void;
}

/** A call of `foldAll` that waits until a layer is in the tables. */
interface Wait {
  readonly layer: Layer;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Decides when the active layer of an overlay is frozen and folded into the tables: when it is full,
 * after some idle time, or when `foldAll` is called. One fold runs at a time. Its last batch also
 * cuts the log, up to the last commit before the freeze.
 */
export class FoldScheduler {
  readonly #options: FoldSchedulerOptions;
  /** The place of the last row of the log that was handed over. */
  #through: number;
  #waits: Wait[] = [];
  #committedAt = 0;
  #cancelIdle: (() => void) | undefined;

  constructor(options: FoldSchedulerOptions) {
    this.#options = options;
    this.#through = options.logFrom;
  }

  /**
   * A commit up to the place `through` of the log is in the active layer and was handed to the write
   * scheduler. Begins a fold when the layer is full, and restarts the idle time.
   */
  committed(through: number): void {
    this.#through = through;
    if (this.#isFull()) this.#fold();
    this.#watchIdle();
  }

  /** Resolves when every commit so far is in the tables. Rejects with the cause given to `fail`. */
  foldAll(): Promise<void> {
    const { active, frozen } = this.#options.overlay;
    const layer = active.rows > 0 ? active : frozen;
    if (!layer) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waits.push({ layer, resolve, reject });
      this.#fold();
    });
  }

  /** No fold can be written any more: rejects calls of `foldAll` that wait, and stops the idle timer. */
  fail(cause: unknown): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    for (const { reject } of this.#waits.splice(0)) reject(cause);
  }

  /** Freezes the active layer and begins its fold, unless one is running: then `#folded` does. */
  #fold(): void {
    const { overlay, begin } = this.#options;
    if (overlay.frozen || overlay.active.rows === 0) return;
    begin(this.#batches(overlay.freeze(), this.#through));
  }

  #batches(layer: Layer, through: number): Background {
    const { limits, partition, sweep, drop } = this.#options;
    const isPressed = () => this.#fill >= 1;
    const batches = fold(layer, { ...limits, partition, recovered: false, isPressed });
    let upcoming = batches.next();
    let first = sweep(layer);
    return {
      isUrgent: (served) => this.#isUrgent(served),
      next: () => {
        const rows = upcoming.done ? [] : upcoming.value;
        // A batch drops hardly more rows, so the deletion of their values keeps up with folds.
        const count = isPressed() ? PRESSED * limits.sliceRowsMax : limits.sliceRowsMax;
        const batch = [...first, ...drop(count), ...rows];
        first = [];
        upcoming = batches.next();
        return upcoming.done ? [...batch, ...this.#cutLog(through)] : batch;
      },
      done: () => {
        if (upcoming.done) this.#folded(layer);
      },
    };
  }

  /** Commits wait for a fold when memory would grow without bound, or when a call of `foldAll` waits. */
  #isUrgent(served: boolean): boolean {
    const fill = this.#fill;
    return fill >= 2 || served && (fill >= 1 || this.#waits.length > 0);
  }

  /** How full the active layer is. 1: it is folded next. */
  get #fill(): number {
    const { rows, bytes } = this.#options.overlay.active;
    const { foldRowsMax, foldBytesMax } = this.#options.limits;
    return Math.max(rows / foldRowsMax, bytes / foldBytesMax);
  }

  #folded(layer: Layer): void {
    this.#options.overlay.frozen = undefined;
    this.#options.finish();
    const isDone = (wait: Wait): boolean => wait.layer === layer;
    for (const { resolve } of this.#waits.filter(isDone)) resolve();
    this.#waits = this.#waits.filter((wait) => !isDone(wait));
    if (this.#waits.length > 0 || this.#isFull()) this.#fold();
  }

  #isFull(): boolean {
    return this.#fill >= 1;
  }

  /** Deletes the folded rows of the log and records their last place: up to there, rows are refused. */
  #cutLog(through: number): Statement[] {
    const { partition, logFrom } = this.#options;
    return [
      statement(foldSql.logDrop, logFrom, through),
      statement(foldSql.logFolded, partition, through),
    ];
  }

  #watchIdle(): void {
    const { clock } = this.#options;
    if (!clock) return;
    this.#committedAt = clock.now();
    if (!this.#cancelIdle) this.#wakeWhenIdle(clock);
  }

  #wakeWhenIdle(clock: Clock): void {
    const { foldIdleMs } = this.#options.limits;
    this.#cancelIdle = clock.at(this.#committedAt + foldIdleMs, () => {
      this.#cancelIdle = undefined;
      if (this.#committedAt + foldIdleMs > clock.now()) this.#wakeWhenIdle(clock);
      else this.#fold();
    });
  }
}
