import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Lease, Log } from "../../src/ports.ts";
import { xxh32 } from "../../src/storage/codec/checksum.ts";

/** Lines of one size, so that one can be replaced by a single write within a disk sector. */
const LINE_BYTES = 64;
const SUM_DIGITS = 8;
const TEXT_BYTES = LINE_BYTES - SUM_DIGITS - 2;
const TITLE = "perdure 1";

const KEPT = constants.O_RDWR | constants.O_CREAT;
const FRESH = KEPT | constants.O_TRUNC;
const PRIVATE = 0o600;

/** How far acknowledged commits reach, at least. */
export interface Mark {
  readonly epoch: number;
  /** The place in the log of the last commit of that epoch. */
  readonly place: number;
}

export interface Marks {
  /** By partition. Absent: unknown. */
  readonly commits: ReadonlyMap<number, Mark>;
  /** The version of the deployments. 0: unknown. */
  readonly deployments: number;
  /**
   * Whether the database must reach the marks. Not after a restart of the machine if commits are
   * acknowledged before they are forced to disk (`storage.synchronous` = `normal`).
   */
  readonly isBinding: boolean;
}

export interface MarkOptions {
  readonly synchronous: "FULL" | "NORMAL";
  /** Whether earlier marks are void. */
  readonly isFresh: boolean;
  readonly log: Log;
}

/**
 * The high-water marks of a data folder, in a file beside the databases. SQLite silently drops the end
 * of a damaged or missing `-wal` file, so the database itself cannot tell what it has lost.
 *
 * A mark is written after its commit is durable and before it is acknowledged, without being forced to
 * disk. So it survives the process; after a loss of power it may be behind, and is never ahead.
 */
export class MarkFile {
  readonly #file: number;
  readonly #line = Buffer.alloc(LINE_BYTES);
  readonly #log: Log;
  #hasFailed = false;

  /** Makes the file when it is missing. Throws what the file system throws. */
  constructor(file: string, { synchronous, isFresh, log }: MarkOptions) {
    this.#log = log;
    this.#file = openSync(file, isFresh ? FRESH : KEPT, PRIVATE);
    this.#write(0, `${TITLE} ${synchronous} ${bootId()}`);
    fsyncSync(this.#file);
  }

  /** A commit of this lease is durable, up to this place of the log. */
  committed({ partition, epoch }: Lease, place: number): void {
    this.#note(2 + partition, `${partition} ${epoch} ${place}`);
  }

  /** This version of the deployments is durable. */
  deployed(version: number): void {
    this.#note(1, `deployments ${version}`);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Writes a mark. When that fails, the mark stays behind, which is safe. */
  #note(line: number, text: string): void {
    try {
      this.#write(line, text);
    } catch (cause) {
      if (!(cause instanceof Error && "code" in cause)) throw cause;
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      this.#log("warn", "Cannot note how far commits reach", { cause: cause.message });
    }
  }

  #write(line: number, text: string): void {
    const bytes = this.#line.fill(" ");
    bytes.write(text, "latin1");
    bytes.write(sumOf(bytes), TEXT_BYTES + 1, "latin1");
    bytes.write("\n", LINE_BYTES - 1, "latin1");
    writeSync(this.#file, bytes, 0, LINE_BYTES, line * LINE_BYTES);
  }
}

/** Reads the marks of a data folder. Undefined: there are none, or not of this format. */
export function readMarks(file: string): Marks | undefined {
  const bytes = contentOf(file);
  if (!bytes) return undefined;
  const lines: (readonly string[] | undefined)[] = [];
  for (let at = 0; at + LINE_BYTES <= bytes.length; at += LINE_BYTES) {
    lines.push(wordsOf(bytes.subarray(at, at + LINE_BYTES)));
  }
  const [title, deployments, ...commits] = lines;
  if (title?.slice(0, 2).join(" ") !== TITLE) return undefined;
  const [synchronous, boot] = title.slice(2);
  return {
    commits: new Map(commits.flatMap((words = []) => {
      const [partition, epoch, place] = words.map(Number);
      return partition === undefined || epoch === undefined || place === undefined
        ? []
        : [[partition, { epoch, place }] as const];
    })),
    deployments: Number(deployments?.[1] ?? 0),
    isBinding: synchronous === "FULL" || boot !== UNKNOWN && boot === bootId(),
  };
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** The words of a line; undefined when it was never written, or is not what was written. */
function wordsOf(line: Buffer): readonly string[] | undefined {
  if (line.toString("latin1", TEXT_BYTES + 1, LINE_BYTES - 1) !== sumOf(line)) return undefined;
  return line.toString("latin1", 0, TEXT_BYTES).trim().split(" ");
}

function sumOf(line: Buffer): string {
  return xxh32(line.subarray(0, TEXT_BYTES)).toString(16).padStart(SUM_DIGITS, "0");
}

const UNKNOWN = "unknown";

/** Changes with every start of the machine. Only Linux has it, and Deno's permissions hide it. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    // Marks that depend on it are then not binding.
    return UNKNOWN;
  }
}
