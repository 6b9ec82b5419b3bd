import { access, constants, mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Failure } from "../../src/errors.ts";
import { WRITABLE } from "../libsql/file/read_only.ts";

/** The files of a data folder. A folder with another file and no version file is refused. */
const VERSION_FILE = "perdure.json";
const LOCK_FILE = "perdure.lock";
const DATABASE_FILE = "perdure.db";
const MARKS_FILE = "perdure.marks";

/** Raised when this and an earlier version cannot read each other's folders. */
const FORMAT = 1;

/** Holds a file for this process alone until it is closed or the process ends. */
export interface Lock {
  close(): Promise<void>;
}

export interface DataFolder {
  /**
   * How many database files it must have. Undefined: unknown, because its first start was interrupted,
   * or because an earlier version made it.
   */
  readonly databases: number | undefined;
  /** Path of the high-water marks (`marks.ts`). */
  readonly marksFile: string;
  readonly lockFile: string;
  /** URL of the database file, for libSQL. */
  readonly databaseUrl: string;
  /** URL of a partition's database, where each has its own. The first one's is `databaseUrl`. */
  partitionUrl(partition: number): string;
  /** Records how many database files it has, once all of them are durable. */
  recordDatabases(databases: number): Promise<void>;
  /** Releases the lock. */
  close(): Promise<void>;
}

export interface DataFolderOptions {
  /** Version of this server, noted in a new folder. */
  readonly madeBy: string;
  /** Takes the lock; `Failure` RT0005 when another process has it. */
  readonly openLock: (file: string) => Promise<Lock>;
  /** Whether a folder that is missing or empty is refused, instead of made. */
  readonly mustExist?: boolean;
  /** Of the key of its databases (`FolderKey`). Absent: they are not encrypted. */
  readonly fingerprint?: string | undefined;
}

/** A folder that is being filled. Until it is finished, it is refused as a data folder. */
export interface NewFolder
  extends Pick<DataFolder, "databaseUrl" | "marksFile" | "partitionUrl" | "close"> {
  /** Makes it a data folder with so many databases, once everything in it is durable. */
  finish(databases: number): Promise<void>;
}

/**
 * Opens the folder a server keeps everything in, and makes it when it is missing. At most one
 * process has it at a time. Throws `Failure` RT0005 (in use), META0011 (holds something else),
 * RT0009 (a database without version file), META0010 (another format), RT0036 (another key), or
 * without a code when the folder cannot be made, read or written.
 */
export async function openDataFolder(
  folder: string,
  { madeBy, openLock, mustExist = false, fingerprint }: DataFolderOptions,
): Promise<DataFolder> {
  const { at, ...places } = placesIn(folder);
  // Checked before the lock is taken, so that no file is made in a folder that is refused.
  if (mustExist) await usable(folder, () => refuseNothing(folder));
  const isNew = await usable(folder, () => isNewFolder(folder));
  await usable(folder, () => access(folder, constants.W_OK | constants.X_OK));
  const lock = await openLock(at(LOCK_FILE));
  try {
    const file = at(VERSION_FILE);
    if (isNew) await usable(folder, () => writeVersion(file, { madeBy, fingerprint }));
    const version = await usable(folder, () => checkVersion(file, folder));
    checkKey(folder, { noted: version.fingerprint, given: fingerprint });
    return {
      ...places,
      databases: version.databases,
      recordDatabases: async (databases) => {
        if (databases === version.databases) return;
        await usable(folder, () => writeVersion(file, { ...version, databases }));
      },
      close: () => lock.close(),
    };
  } catch (cause) {
    await lock.close();
    throw cause;
  }
}

/**
 * Opens a folder for a copy, and makes it when it is missing. Servers refuse it until it has a version
 * file, so an interrupted copy is never used as a whole one. Throws as `openDataFolder` does, and
 * META0011 also when there is data in it.
 */
export async function openNewFolder(
  folder: string,
  { madeBy, openLock, fingerprint }: DataFolderOptions,
): Promise<NewFolder> {
  const { at, ...places } = placesIn(folder);
  if (!await usable(folder, () => isNewFolder(folder))) {
    throw new Failure("META0011", `Cannot copy into "${folder}": there is data in it`);
  }
  const lock = await openLock(at(LOCK_FILE));
  return {
    ...places,
    finish: (databases) =>
      usable(folder, () => writeVersion(at(VERSION_FILE), { madeBy, databases, fingerprint })),
    close: () => lock.close(),
  };
}

/**
 * The paths of the databases in a folder that another process may have locked, for reading only.
 * Throws as `openDataFolder` does, and without a code when there is no data in it.
 */
export async function inspectDataFolder(
  folder: string,
  { fingerprint }: Pick<DataFolderOptions, "fingerprint"> = {},
): Promise<Pick<DataFolder, "partitionUrl">> {
  const { at, partitionUrl } = placesIn(folder);
  await usable(folder, () => refuseNothing(folder));
  const version = await usable(folder, () => checkVersion(at(VERSION_FILE), folder));
  checkKey(folder, { noted: version.fingerprint, given: fingerprint });
  return { partitionUrl };
}

/** The paths in a data folder. */
export function placesIn(folder: string) {
  const at = (name: string) => path.join(path.resolve(folder), name);
  const partitionUrl = (partition: number) => pathToFileURL(at(databaseFile(partition))).href;
  return {
    at,
    databaseUrl: partitionUrl(0),
    marksFile: at(MARKS_FILE),
    lockFile: at(LOCK_FILE),
    partitionUrl,
  };
}

async function refuseNothing(folder: string): Promise<void> {
  const names = await readdir(folder).catch((cause): string[] => {
    if (cause.code === "ENOENT") return [];
    throw cause;
  });
  if (names.includes(VERSION_FILE)) return;
  if (names.includes(DATABASE_FILE)) throw cutOff(folder);
  throw Failure.plain(404, `Cannot use "${folder}": there is no data in it`);
}

function cutOff(folder: string): Failure {
  const message = `"${VERSION_FILE}" is missing, as it is from a copy that was cut off`;
  return new Failure("RT0009", `Cannot use "${folder}": ${message}`);
}

/** The name of a partition's file, where each has its own. */
function databaseFile(partition: number): string {
  return partition === 0 ? DATABASE_FILE : DATABASE_FILE.replace(".", `-${partition}.`);
}

/** Whether the folder is new. Throws when it holds other files. */
async function isNewFolder(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  if (names.includes(VERSION_FILE)) return false;
  if (names.includes(DATABASE_FILE)) throw cutOff(folder);
  // An interrupted start may have left the lock, and the root of a disk has "lost+found".
  const ours = [LOCK_FILE, `${LOCK_FILE}-journal`, `${VERSION_FILE}.new`, "lost+found"];
  const other = names.find((name) => !ours.includes(name));
  if (other === undefined) return true;
  throw new Failure("META0011", `Cannot use "${folder}": it holds "${other}"`);
}

interface Version {
  readonly madeBy?: unknown;
  readonly databases?: number | undefined;
  readonly fingerprint?: string | undefined;
}

async function writeVersion(file: string, version: Version): Promise<void> {
  const { madeBy, databases, fingerprint } = version;
  const content = { format: FORMAT, madeBy, databases, keyFingerprint: fingerprint };
  // Written under another name, forced to disk and renamed, so that it is never there in part.
  const handle = await open(`${file}.new`, "w");
  try {
    await handle.writeFile(`${JSON.stringify(content)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

async function checkVersion(file: string, folder: string): Promise<Version> {
  const text = await readFile(file, "utf8");
  let version: Readonly<Record<string, unknown>> | null;
  try {
    version = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    version = null;
  }
  const { format, madeBy, databases, keyFingerprint } = version ?? {};
  if (format === FORMAT) {
    return {
      madeBy,
      databases: Number.isInteger(databases) ? Number(databases) : undefined,
      fingerprint: keyFingerprint === undefined ? undefined : String(keyFingerprint),
    };
  }
  const made = madeBy === undefined ? "" : `, made by version ${madeBy}`;
  const found = JSON.stringify(format) ?? "unreadable";
  throw new Failure(
    "META0010",
    `Cannot use "${folder}": its format is ${found}${made}, this version reads ${FORMAT}`,
  );
}

/**
 * Refuses a key that is not the folder's. Without this SQLite would tell that its file is damaged, and
 * an operator might give up data that a right key opens.
 */
function checkKey(
  folder: string,
  { noted, given }: { readonly noted: string | undefined; readonly given: string | undefined },
): void {
  if (noted === given) return;
  const why = noted === undefined
    ? "it is not encrypted, and a key is set"
    : given === undefined
    ? "it is encrypted, and no key is set"
    : "it is encrypted with another key";
  throw new Failure("RT0036", `Cannot use "${folder}": ${why}`);
}

const FORBIDDEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Runs `act`, and names the folder in errors of the file system. */
async function usable<T>(folder: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof Failure || !(cause instanceof Error && "code" in cause)) throw cause;
    const advice = FORBIDDEN.has(String(cause.code)) ? `; ${WRITABLE}` : "";
    throw Failure.plain(500, `Cannot use "${folder}": ${cause.message}${advice}`, { cause });
  }
}
