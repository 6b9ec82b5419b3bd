import { type Client, createClient, type InArgs } from "@libsql/client/sqlite3";
import { performance } from "node:perf_hooks";
import type { SqlClient, SqlRow, Statement } from "../src/ports.ts";
import { type FileOptions, named, plain } from "./libsql_client.ts";

/** A write of more than this is handed over: the thread then works while this one goes on. */
const NEAR_BYTES_MAX = 0;
/** A write that took longer says that the disk is slow, or that somebody else had it. */
const NEAR_MS_MAX = 5;
/** How long everything is handed over after a slow write. */
const REST_MS = 200;
const BUSY_TIMEOUT_MS = 1_000;

/**
 * A database file whose small commits are made in this thread, by a connection of their own.
 * Waking another thread and being woken by it takes longer than a small commit on a quick disk,
 * and costs more. Everything else goes to `far`, the client in the database's thread: reads,
 * batches, large commits, all while it is writing, and all while the disk is slow, so that this
 * thread is never held up for longer than a few milliseconds in a second (decision 016).
 */
export function nearCommits(far: SqlClient, { url, synchronous = "FULL" }: FileOptions): SqlClient {
  return new NearCommits(far, () => open(url, synchronous));
}

async function open(url: string, synchronous: string): Promise<Client> {
  const client = createClient({ url, concurrency: 1, timeout: BUSY_TIMEOUT_MS });
  await client.execute(`pragma synchronous = ${synchronous}`);
  // Moving the log into the file takes long, and is left to the thread.
  await client.execute("pragma wal_autocheckpoint = 0");
  await client.execute("pragma cache_size = -1024");
  return client;
}

class NearCommits implements SqlClient {
  readonly #far: SqlClient;
  readonly #open: () => Promise<Client>;
  #near: Promise<Client> | undefined;
  #farWrites = 0;
  #restUntil = 0;

  constructor(far: SqlClient, open: () => Promise<Client>) {
    this.#far = far;
    this.#open = open;
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<readonly SqlRow[][]> {
    if (mode === "read") return this.#far.batch(mode, statements);
    const [only, ...others] = statements;
    if (only && others.length === 0 && this.#isNear(only)) return named(() => this.#write(only));
    this.#farWrites++;
    return this.#far.batch(mode, statements).finally(() => this.#farWrites--);
  }

  isRefused(cause: unknown): boolean {
    return this.#far.isRefused(cause);
  }

  async close(): Promise<void> {
    const near = this.#near;
    this.#near = undefined;
    (await near)?.close();
    await this.#far.close();
  }

  #isNear({ args }: Statement): boolean {
    if (this.#farWrites > 0 || performance.now() < this.#restUntil) return false;
    let size = 0;
    for (const arg of args) {
      if (typeof arg === "string" || arg instanceof Uint8Array) size += arg.length;
    }
    return size <= NEAR_BYTES_MAX;
  }

  async #write({ sql, args }: Statement): Promise<SqlRow[][]> {
    const client = await (this.#near ??= this.#open());
    const began = performance.now();
    const { rows } = await client.execute({ sql, args: args as InArgs });
    const now = performance.now();
    if (now - began > NEAR_MS_MAX) this.#restUntil = now + REST_MS;
    return [rows.map(plain)];
  }
}
