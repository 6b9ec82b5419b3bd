import { closeSync, openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import Database from "libsql/promise";
import { type Connection, pathOf } from "./connection.ts";
import { keyOption } from "./folder_key.ts";

/** A checkpoint begins with so many pages of the write-ahead log that are not yet in the database file. */
const PAGES_MIN = 1_000;
/** With more pages in the log, each commit makes a checkpoint and waits for it, as SQLite does of itself. */
const PAGES_MAX = 8_000;
/** How long no checkpoint is tried after one that failed. The next commit tells why, if it fails as well. */
const PAUSE_MS = 1_000;
const CHECKPOINT = "wal_checkpoint(passive)";

/** What a connection needs to have when it has its checkpoints made by `Checkpoints`. */
export const CHECKPOINT_SETTING = `wal_autocheckpoint = ${PAGES_MAX}`;

/** A write-ahead log, and how its pages get into the database file. */
export interface WriteAheadLog {
  /** Pages that are not yet in the database file. */
  pages(): number;
  /** Copies what is there now. Commits go on meanwhile. */
  copyBeside(): Promise<void>;
  /** Copies what has come since, so that the log begins anew. Blocks. */
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

  /** `now`: milliseconds. */
  constructor(log: WriteAheadLog, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** To be called after each write. Does not block. */
  afterWrite(): void {
    if (this.#running || this.#now() < this.#pausedUntil || !this.#isDue()) return;
    this.#running = this.#run().finally(() => this.#running = undefined);
  }

  /** Waits for the one that is running. The connection may be closed afterwards, and not before. */
  async close(): Promise<void> {
    await this.#running;
    this.#log.close();
  }

  #isDue(): boolean {
    try {
      return this.#log.pages() >= PAGES_MIN;
    } catch {
      this.#pause();
      return false;
    }
  }

  async #run(): Promise<void> {
    try {
      await this.#log.copyBeside();
      this.#log.copyRest();
    } catch {
      this.#pause();
    }
  }

  #pause(): void {
    this.#pausedUntil = this.#now() + PAUSE_MS;
  }
}

/** The log of a file, whose only writer in this thread is `connection`. `url`, `databaseKey`: as it has them. */
export function logOf(
  connection: Connection,
  url: string,
  databaseKey: string | undefined,
): WriteAheadLog {
  const path = pathOf(url);
  const index = new LogIndex(`${path}-shm`);
  let beside: Database | undefined;
  return {
    pages: () => index.pages(),
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
      index.close();
    },
  };
}

/** The only layout that is known. With another, SQLite makes the checkpoints by itself (`PAGES_MAX`). */
const INDEX_VERSION = 3_007_000;
/** Places of numbers of 32 bits: https://sqlite.org/walformat.html, "The WAL-Index Header". */
const [VERSION_AT, FRAMES_AT, COPIED_AT, NUMBERS] = [0, 4, 24, 25];

/** What the index of a write-ahead log tells without a lock. It is a hint: a writer may be changing it. */
class LogIndex {
  readonly #path: string;
  readonly #header = new Uint32Array(NUMBERS);
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  pages(): number {
    const header = this.#header;
    this.#file ??= openSync(this.#path, "r");
    readSync(this.#file, header, 0, header.byteLength, 0);
    return header[VERSION_AT] === INDEX_VERSION ? header[FRAMES_AT]! - header[COPIED_AT]! : 0;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
