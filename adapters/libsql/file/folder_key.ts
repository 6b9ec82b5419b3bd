import { Buffer } from "node:buffer";
import { hkdfSync, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Database from "libsql";
import { Failure } from "../../../src/errors.ts";
import { removeLeftover } from "../../platform/remove_leftover.ts";

/** The key of a data folder: what follows from the one that its operator keeps. */
export interface FolderKey {
  /** What libSQL takes as the key of each database file. */
  readonly databaseKey: string;
  /** Tells keys apart, and nothing else: it is noted in the folder. */
  readonly fingerprint: string;
}

/**
 * libSQL passes its key to a cipher that uses the first 32 bytes of it and ignores the others: of 64
 * hexadecimal digits it would use half. So what it gets is derived from all of the key: 24 bytes, which
 * are 32 characters of base64.
 */
const DATABASE_KEY_BYTES = 24;
const FINGERPRINT_BYTES = 16;

/** Derives it (HKDF, RFC 5869). `key`: a long, random text; nothing slows down guessing a short one. */
export function folderKeyOf(key: string): FolderKey {
  return {
    databaseKey: derived(key, "database", DATABASE_KEY_BYTES).toString("base64"),
    fingerprint: derived(key, "fingerprint", FINGERPRINT_BYTES).toString("hex"),
  };
}

function derived(key: string, use: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", `perdure ${use}`, bytes));
}

/** An option that the types of the driver lack. */
export type KeyOption = Database.Options & { readonly encryptionKey?: string };

/** The options of a connection for a key. */
export function keyOption(databaseKey: string | undefined): KeyOption {
  return databaseKey === undefined ? {} : { encryptionKey: databaseKey };
}

/** The first bytes of a file that is not encrypted. */
const CLEAR = "SQLite format 3\0";

/**
 * Makes a file with a key and reads its bytes. Throws `Failure` when they are not encrypted: a build of
 * libSQL without its cipher would take the key, and ignore it.
 */
export function refuseClear(open: (file: string) => Database.Database = openWithKey): void {
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-key-"));
  try {
    const file = path.join(folder, "test.db");
    const database = open(file);
    database.exec("create table test (value)");
    database.close();
    if (readFileSync(file).toString("latin1", 0, CLEAR.length) !== CLEAR) return;
  } finally {
    removeLeftover(folder);
  }
  const why = "the build of libSQL for this platform does not encrypt";
  throw Failure.plain(500, `Cannot use "storage.encryption-key": ${why}`);
}

function openWithKey(file: string): Database.Database {
  return new Database(file, keyOption(folderKeyOf(randomUUID()).databaseKey));
}
