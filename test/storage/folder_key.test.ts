import Database from "libsql";
import { describe, expect, test } from "vitest";
import { folderKeyOf, refuseClear } from "../../adapters/libsql/file/folder_key.ts";
import { partitionConfig } from "../../adapters/workerd/settings.ts";
import { withoutKeys } from "../../adapters/platform/command.ts";
import { dumpConfig, readConfig } from "../../src/config.ts";

const KEY = "0123456789abcdef".repeat(4);

describe("a key", () => {
  test("counts with all its characters: libSQL alone would use the first 32", () => {
    const keys = [KEY, `${KEY}x`, `${KEY.slice(0, -1)}x`].map(folderKeyOf);
    expect(new Set(keys.map(({ databaseKey }) => databaseKey)).size).toBe(3);
    expect(new Set(keys.map(({ fingerprint }) => fingerprint)).size).toBe(3);
    for (const { databaseKey } of keys) expect(databaseKey).toHaveLength(32);
  });

  test("is derived as it ever was, since files are read by it", () => {
    expect(folderKeyOf(KEY)).toEqual({
      databaseKey: "nXzoYM3PiBA1sRhMW58o8qpAmkIfg26O",
      fingerprint: "0967819c3a22b3244ba224a513f01153",
    });
  });

  test.each([["short", "x".repeat(31)], ["long", "x".repeat(257)], ["odd", `${KEY} ${KEY}`]])(
    "that is too %s is refused and not repeated",
    (_, key) => {
      const read = () => readConfig({ env: { SVC_STORAGE__ENCRYPTION_KEY: key } });
      expect(read).toThrow(
        "[RT0002] Cannot read SVC_STORAGE__ENCRYPTION_KEY: the value is not a key",
      );
      expect(read).not.toThrow(key);
    },
  );

  test.each([[["--storage.encryption-key", KEY]], [[`--storage.encryption-key=${KEY}`]]])(
    "on a command line is refused and not repeated",
    (args) => {
      const read = () => readConfig({ args });
      expect(read).toThrow("set SVC_STORAGE__ENCRYPTION_KEY, or name a file");
      expect(read).not.toThrow(KEY);
    },
  );

  test("is read from the environment and the config file, and never printed", () => {
    const file = `[storage]\nencryption-key = "${KEY}"`;
    for (const sources of [{ file }, { env: { SVC_STORAGE__ENCRYPTION_KEY: KEY } }]) {
      const config = readConfig(sources);
      expect(config["storage.encryption-key"]).toBe(KEY);
      expect(dumpConfig(config)).not.toContain(KEY);
    }
  });
});

test("a key is not in the environment of processes that a server starts", () => {
  const env = {
    PATH: "/bin",
    SVC_STORAGE__ENCRYPTION_KEY: KEY,
    RESTATE_STORAGE__ENCRYPTION_KEY: KEY,
  };
  expect(withoutKeys(env)).toEqual({ PATH: "/bin" });
});

test("a Durable Object takes no key: its platform encrypts", () => {
  expect(() => partitionConfig({ SVC_STORAGE__ENCRYPTION_KEY: KEY }))
    .toThrow(`[RT0002] Cannot use "storage.encryption-key": a Durable Object`);
});

test("a build of libSQL that takes a key and does not encrypt is refused", () => {
  expect(() => refuseClear()).not.toThrow();
  expect(() => refuseClear((file) => new Database(file))).toThrow("does not encrypt");
});
