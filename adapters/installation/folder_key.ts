import { readFile } from "node:fs/promises";
import type { Config } from "../../src/config.ts";
import { isEncryptionKey, KEY_EXPECTED } from "../../src/config/encryption_options.ts";
import { Failure } from "../../src/errors.ts";
import { type FolderKey, folderKeyOf, refuseClear } from "../libsql/file/folder_key.ts";

const KEY = "storage.encryption-key";
const KEY_FILE = "storage.encryption-key-file";

/**
 * The key of the data folder, from the settings. Undefined: it is not encrypted. Rejects with `Failure`
 * RT0002 when the settings contradict each other or the file has no key, and with one without a code
 * when libSQL does not encrypt on this platform.
 */
export async function folderKey(config: Config): Promise<FolderKey | undefined> {
  const { [KEY]: key, [KEY_FILE]: file } = config;
  if (key === "" && file === "") return undefined;
  if (key !== "" && file !== "") {
    throw new Failure("RT0002", `Cannot use "${KEY}" and "${KEY_FILE}" at once`);
  }
  const name = file === "" ? KEY : KEY_FILE;
  if (config["storage.database-url"] !== "") {
    const why = `"storage.database-url" is set, and a database server encrypts its own files`;
    throw new Failure("RT0002", `Cannot use "${name}": ${why}`);
  }
  return file === "" ? checked(key) : await readKey(file, `"${KEY_FILE}"`);
}

/** Stands for no key. */
const NO_KEY = "none";

/**
 * The key of a copy. `file`: where it is, `none` for a copy that is not encrypted, or undefined for the
 * key of the settings. Rejects as `folderKey` does.
 */
export async function keyOfCopy(
  file: string | undefined,
  config: Config,
): Promise<FolderKey | undefined> {
  if (file === undefined) return await folderKey(config);
  return file === NO_KEY ? undefined : await readKey(file, "--to-key-file");
}

async function readKey(file: string, name: string): Promise<FolderKey> {
  const text = await readFile(file, "utf8").catch((cause) => {
    throw new Failure("RT0002", `Cannot use ${name}: ${cause.message}`, { cause });
  });
  const key = text.trim();
  if (isEncryptionKey(key)) return checked(key);
  throw new Failure(
    "RT0002",
    `Cannot use ${name}: the content of "${file}" is not ${KEY_EXPECTED}`,
  );
}

function checked(key: string): FolderKey {
  refuseClear();
  return folderKeyOf(key);
}
