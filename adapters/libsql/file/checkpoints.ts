import { performance } from "node:perf_hooks";
import Database from "libsql/promise";
import { type Connection, pathOf } from "./connection.ts";
import { keyOption } from "./folder_key.ts";

/** A checkpoint begins once about so many pages were written. */
const PAGES_MIN = 1_000;
/** With more pages in the log, each commit makes a checkpoint and waits for it, as SQLite does of itself. */
const PAGES_MAX = 8_000;
const PAGE_BYTES = 4096;
/** What a write changes beside the bytes that it is given: indices, and pages that have room for more. */
const [PAGES_FOR_PAGE, PAGES_OF_WRITE] = [2, 8];
/** How long no checkpoint is tried after one that failed. The next commit tells why, if it fails as well. */
const PAUSE_MS = 1_000;
const CHECKPOINT = "wal_checkpoint(passive)";

/** A pragma for the connection that commits: `Checkpoints` begins before SQLite does of itself. */
export const CHECKPOINT_SETTING = `wal_autocheckpoint = ${PAGES_MAX}`;

/** A write-ahead log, and how its pages get into the database file. */
export interface WriteAheadLog {
  /** Copies the pages that the log has when it is called. Commits do not wait for it. */
  copyBeside(): Promise<void>;
  /**
   * Copies the pages that commits have added since. The log has nothing left to copy then, so the next
   * commit writes at its beginning. Blocks the thread.
   */
  copyRest(): void;
  /** Must not be called while `copyBeside` is running. */
  close(): void;
}

/**
 * Makes checkpoints while commits go on (decision 095): most of the pages are copied by a thread of
 * libSQL, and the owner of the file copies those that were written meanwhile. Errors are not reported:
 * a page that is not copied stays in the log, and a later checkpoint copies it.
 */
export class Checkpoints {
  readonly #log: WriteAheadLog;
  readonly #now: () => number;
  #running: Promise<void> | undefined;
  #pausedUntil = 0;
  #pages = 0;

  /** `now`: milliseconds. */
  constructor(log: WriteAheadLog, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** To be called after each write, with about as many bytes as were written. Does not block. */
  afterWrite(bytes: number): void {
    this.#pages += PAGES_OF_WRITE + PAGES_FOR_PAGE * bytes / PAGE_BYTES;
    if (this.#running || this.#pages < PAGES_MIN || this.#now() < this.#pausedUntil) return;
    this.#pages = 0;
    this.#running = this.#run().finally(() => this.#running = undefined);
  }

  /** Waits for the one that is running. The connection may be closed afterwards, and not before. */
  async close(): Promise<void> {
    await this.#running;
    this.#log.close();
  }

  async #run(): Promise<void> {
    try {
      await this.#log.copyBeside();
      this.#log.copyRest();
    } catch {
      this.#pages += PAGES_MIN;
      this.#pausedUntil = this.#now() + PAUSE_MS;
    }
  }
}

/** The log of a file, whose only writer in this thread is `connection`. `url`, `databaseKey`: as it has them. */
export function logOf(
  connection: Connection,
  url: string,
  databaseKey: string | undefined,
): WriteAheadLog {
  const path = pathOf(url);
  let beside: Database | undefined;
  return {
    copyBeside: async () => {
      beside ??= new Database(path, keyOption(databaseKey));
      // The log is forced before a page of it is copied, also one of a fold (decision 075).
      await beside.exec("pragma synchronous = full");
      await beside.exec(`pragma ${CHECKPOINT}`);
    },
    copyRest: () => connection.pragma(CHECKPOINT),
    close: () => {
      beside?.close();
      beside = undefined;
    },
  };
}
