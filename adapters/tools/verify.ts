import { statSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { SqlClient, SqlRow } from "../../src/ports.ts";
import { databaseInfoOf } from "../../src/storage/examine.ts";
import { countTable } from "../../src/storage/move/count_rows.ts";
import { bytesOf, readRows } from "../../src/storage/move/read_rows.ts";
import { largeProblems } from "../../src/storage/large/check.ts";
import type { RowTable } from "../../src/storage/move/row_table.ts";
import { keyOf, problemOf, VERIFIED_TABLES } from "../../src/storage/move/verify_rows.ts";
import { compile, statement } from "../../src/storage/codec/sql_text.ts";
import { FORMAT_VERSION } from "../../src/storage/schema/migrations.ts";
import { checkFolder } from "../installation/check.ts";
import { openDataFolder } from "../installation/folder.ts";
import { folderKey } from "../installation/folder_key.ts";
import { openLock } from "../libsql/file/open.ts";
import { openReadOnly } from "../libsql/file/read_only.ts";
import { VERSION } from "../platform/version.ts";
import type { Display, Work } from "./display.ts";
import type { ToolContext } from "./context.ts";
import { verifyShares } from "./verify_shares.ts";

const READING = { retryMs: 0, asBytes: true } as const;
/** Problems that are printed; the others are counted. */
const PRINTED_MAX = 1_000;
/** Tables that are compared with each other once every row of them can be read. */
const COMPARED = ["share", "bank", "outbox", "control", "rule"] as const;
/** Lines that SQLite's check reports for one file. */
const SQLITE_LINES_MAX = 100;

const HAS_META = compile(sql`select 1 from sqlite_master where name = 'meta'`);
const INTEGRITY = compile(sql.raw(`pragma integrity_check(${SQLITE_LINES_MAX})`));

/**
 * Checks the folder of a stopped server row by row and changes nothing: everything that `checkFolder`
 * checks, SQLite's own check of each file, that every row of the tables can be decoded and matches its
 * key, and that partitions have as many slots as they were given. Prints a line for each problem.
 * Rejects with `Failure` when there is one.
 */
export async function verify(config: Config, context: ToolContext): Promise<void> {
  if (config["storage.database-url"] !== "") {
    const why = `"storage.database-url" is set, and this checks the files of a folder`;
    throw new Failure("RT0002", `Cannot verify: ${why}`);
  }
  const { fingerprint, databaseKey } = await folderKey(config) ?? {};
  const about = { madeBy: VERSION, openLock, mustExist: true, fingerprint };
  const folder = await openDataFolder(config["base-dir"], about);
  const urls = Array.from({ length: folder.databases ?? 1 }, (_, i) => folder.partitionUrl(i))
    // Missing files are reported by the check of the folder.
    .filter((url) => statSync(fileURLToPath(url), { throwIfNoEntry: false })?.size);
  const open = (url: string) => openReadOnly(url, databaseKey);
  const report = new Report(context, await rowsIn(urls, open));
  try {
    for await (const { message } of checkFolder(folder, databaseKey)) report.problem(message);
    for (const url of urls) {
      const client = open(url);
      const name = path.basename(fileURLToPath(url));
      await new FileCheck(client, name, report).run().finally(() => client.close());
    }
    if (urls.length === (folder.databases ?? 1)) await compareShares(urls.map(open), report);
  } finally {
    await folder.close();
  }
  report.end();
}

/** Compares rows of several partitions, where all of them are there and can be read. */
async function compareShares(clients: readonly SqlClient[], report: Report): Promise<void> {
  try {
    if (!report.canCompare(clients.length)) return;
    for await (const problem of verifyShares(clients)) report.problem(problem);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** Rows to check. Tables that cannot be counted are skipped: their check reports the reason. */
async function rowsIn(
  urls: readonly string[],
  open: (url: string) => SqlClient,
): Promise<number> {
  let sum = 0;
  for (const url of urls) {
    const client = open(url);
    for (const table of VERIFIED_TABLES) sum += await countTable(client, table).catch(() => 0);
    await client.close();
  }
  return sum;
}

/** The problems so far, and progress. */
class Report {
  readonly #display: Display;
  readonly #work: Work;
  readonly #began = Date.now();
  #rows = 0;
  #problems = 0;
  /** How many files have sound tables of a name. */
  readonly #sound = new Map<string, number>();

  constructor({ display }: ToolContext, rows: number) {
    this.#display = display;
    this.#work = display.begin("Checking", { rows });
  }

  problem(text: string): void {
    this.#display.clear();
    if (++this.#problems <= PRINTED_MAX) process.stdout.write(`${text}\n`);
  }

  /** All rows of a table of one file can be read. */
  sound({ name }: RowTable): void {
    this.#sound.set(name, (this.#sound.get(name) ?? 0) + 1);
  }

  /** Whether the tables that are compared are sound in so many files. */
  canCompare(files: number): boolean {
    return COMPARED.every((name) => this.#sound.get(name) === files);
  }

  /** A step begins that reports no progress. */
  step(what: string): void {
    this.#work.progress({ what });
  }

  row(what: string, row: SqlRow): void {
    this.#rows++;
    this.#work.progress({ what, rows: 1, bytes: bytesOf(row) });
  }

  /** Throws `Failure` when there was a problem. */
  end(): void {
    const checked = `${this.#rows} rows were checked, ${this.#rate()} a second`;
    if (this.#problems === 0) return this.#display.say(`Nothing is missing or damaged: ${checked}`);
    const hidden = this.#problems - PRINTED_MAX;
    const more = hidden > 0 ? `, ${hidden} of them are not printed` : "";
    throw Failure.plain(
      500,
      `Found ${this.#problems} problems${more}; ${checked}. Restore a backup, or start with ` +
        "--accept-loss to go on without what is missing",
    );
  }

  #rate(): number {
    return Math.round(this.#rows * 1000 / Math.max(1, Date.now() - this.#began));
  }
}

/** The check of one database file. */
class FileCheck {
  readonly #client: SqlClient;
  readonly #name: string;
  readonly #report: Report;

  constructor(client: SqlClient, name: string, report: Report) {
    this.#client = client;
    this.#name = name;
    this.#report = report;
  }

  async run(): Promise<void> {
    this.#report.step(`${this.#name}, SQLite's own check`);
    await this.#reporting("", () => this.#integrity());
    const [meta] = await this.#client.batch("read", [statement(HAS_META)]).catch(() => [[]]);
    // A file that is not a database of this server was reported by the check of the folder.
    if (meta?.length !== 1) return;
    const { format } = await databaseInfoOf(this.#client);
    if (format !== FORMAT_VERSION) {
      const why = `its format is ${format}, and only ${FORMAT_VERSION} can be checked`;
      return this.#report.problem(`${this.#name}: ${why}: start the server once`);
    }
    for (const table of VERIFIED_TABLES) {
      await this.#reporting(` table ${table.name}`, () => this.#table(table));
    }
    this.#report.step(`${this.#name}, large values`);
    await this.#reporting(" large values", () => this.#largeValues());
  }

  async #largeValues(): Promise<void> {
    for await (const problem of largeProblems(this.#client)) {
      this.#report.problem(`${this.#name}: ${problem}`);
    }
  }

  async #integrity(): Promise<void> {
    const [rows = []] = await this.#client.batch("read", [statement(INTEGRITY)]);
    for (const { integrity_check: line } of rows) {
      if (line !== "ok") this.#report.problem(`${this.#name}: ${line}`);
    }
  }

  async #table(table: RowTable): Promise<void> {
    const total = await countTable(this.#client, table);
    let done = 0, problems = 0;
    for await (const rows of readRows(this.#client, table, READING)) {
      for (const row of rows) {
        const problem = problemOf(table, row);
        if (problem) {
          problems++;
          this.#report.problem(`${this.#name}: ${keyOf(table, row)}: ${problem}`);
        }
        this.#report.row(`${this.#name}, ${table.name}`, row);
        done++;
      }
    }
    if (done === total) return problems === 0 ? this.#report.sound(table) : undefined;
    this.#report.problem(`${this.#name}: table ${table.name} has ${done} rows of ${total}`);
  }

  /** Runs `act`. A `Failure` is reported as a problem, and the check continues. */
  async #reporting(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#report.problem(`${this.#name}:${what} ${cause.message}`);
    }
  }
}
