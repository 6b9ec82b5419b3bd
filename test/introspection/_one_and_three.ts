import { afterAll, beforeAll } from "vitest";
import type { Introspection } from "../../src/query_port.ts";
import { NOW, type Stored } from "./_queued.ts";
import { Asking, Files, inFile } from "./_united.ts";

const OPEN_MS = 30_000;

/**
 * Opens the rows in one file, which queries attach, and in three, which they copy, before the tests of the
 * file that calls this, and closes them afterwards. `open` has both by name: "one file", "three files".
 * `files` and `asking` are for more of them.
 */
export function useOneAndThreeFiles(stored: Stored): {
  readonly open: Readonly<Record<string, Introspection>>;
  readonly files: Files;
  readonly asking: Asking;
} {
  const files = new Files();
  const asking = new Asking();
  const open: Record<string, Introspection> = {};
  beforeAll(async () => {
    const options = { clock: { now: () => NOW } };
    open["one file"] = asking.open([inFile(await files.make("all.db", stored.rows()))], options);
    const parts: string[] = [];
    for (let i = 0; i < 3; i++) parts.push(await files.make(`${i}.db`, stored.rows(i, 3)));
    open["three files"] = asking.open(parts.map(inFile), options);
  }, OPEN_MS);
  afterAll(async () => {
    await asking.close();
    await files.close();
  });
  return { open, files, asking };
}
