import { statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { Failure } from "../../src/errors.ts";
import type { Log, SqlClient } from "../../src/ports.ts";
import { databaseInfoOf, logEndOf, logProblem, partitionsIn } from "../../src/storage/examine.ts";
import { logPlaces } from "../../src/storage/log/recover.ts";
import { compile, statement } from "../../src/storage/codec/sql_text.ts";
import type { DataFolder } from "./folder.ts";
import { type Marks, readMarks } from "./marks.ts";
import type { FolderKey } from "../libsql/file/folder_key.ts";
import { openReadOnly } from "../libsql/file/read_only.ts";

/** The first format of the tables whose log has checksums. */
const CHECKSUM_FORMAT = 8;

const IS_OURS = compile(sql`select 1 from sqlite_master where type = 'table' and name = 'meta'`);

/**
 * Checks a data folder before any of it is opened for writing: whether all its databases exist, reach
 * their high-water marks, and contain logs that can be read. Changes nothing. Yields `Failure` RT0027
 * for missing data and RT0028 for damaged data.
 * `databaseKey`: of `FolderKey`, where the databases are encrypted.
 */
export async function* checkFolder(
  folder: DataFolder,
  databaseKey?: string,
): AsyncGenerator<Failure> {
  const marks = readMarks(folder.marksFile);
  const { databases = 1 } = folder;
  for (let number = 0; number < databases; number++) {
    const url = folder.partitionUrl(number);
    const problem = fileProblem(fileURLToPath(url));
    // After a start that was interrupted, the folder does not yet say how many databases it has.
    if (problem !== undefined && folder.databases === undefined) continue;
    if (problem !== undefined) {
      yield missing(url, problem);
      continue;
    }
    const client = openReadOnly(url, databaseKey);
    try {
      yield* checkDatabase(client, { url, number, marks });
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      yield cause;
    } finally {
      await client.close();
    }
  }
}

/** Rejects with the first problem that `checkFolder` finds, or logs all where loss is accepted. */
export async function refuseLoss(
  folder: DataFolder,
  { acceptLoss, log, key }: {
    readonly acceptLoss: boolean;
    readonly log: Log;
    readonly key: FolderKey | undefined;
  },
): Promise<void> {
  for await (const problem of checkFolder(folder, key?.databaseKey)) {
    if (!acceptLoss) throw problem;
    log("warn", "Starting without data that was acknowledged", { problem: problem.message });
  }
}

/** Why a file cannot be a database; undefined: it may be one. */
function fileProblem(file: string): string | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  return size === undefined ? "it is missing" : size === 0 ? "it is empty" : undefined;
}

async function* checkDatabase(
  client: SqlClient,
  { url, number, marks }: {
    readonly url: string;
    readonly number: number;
    readonly marks: Marks | undefined;
  },
): AsyncGenerator<Failure> {
  const [ours = []] = await client.batch("read", [statement(IS_OURS)]);
  if (ours.length === 0) {
    yield missing(url, "it has no tables of this server");
    return;
  }
  const about = await databaseInfoOf(client);
  // Tables of an earlier version have no checksums, and no marks beside them.
  if (about.format < CHECKSUM_FORMAT) return;
  if (number === 0 && marks?.isBinding && about.deployments < marks.deployments) {
    const lacking = marks.deployments - about.deployments;
    yield missing(url, `it lacks the last ${lacking} changes of deployments`);
  }
  for (const partition of partitionsIn(about, number)) {
    const lack = await missingCommitsOf(client, partition, marks);
    if (lack !== undefined) yield missing(url, lack);
    const problem = await logProblem(client, partition);
    if (problem) yield problem;
  }
}

/** Which acknowledged commits a partition lacks, as a message; undefined: none that is known. */
async function missingCommitsOf(
  client: SqlClient,
  partition: number,
  marks: Marks | undefined,
): Promise<string | undefined> {
  const mark = marks?.commits.get(partition);
  if (!mark || !marks?.isBinding) return undefined;
  const { epoch, place } = await logEndOf(client, partition);
  if (epoch > mark.epoch || epoch === mark.epoch && place >= mark.place) return undefined;
  if (epoch < mark.epoch) {
    return `it ends in epoch ${epoch} of partition ${partition}, and epoch ${mark.epoch} was served`;
  }
  const { from } = logPlaces(partition);
  return `it lacks the commits of partition ${partition} after row ${place - from} of its log, ` +
    `and row ${mark.place - from} was acknowledged`;
}

function missing(url: string, problem: string): Failure {
  return new Failure("RT0027", `Cannot use "${path.basename(fileURLToPath(url))}": ${problem}`);
}
