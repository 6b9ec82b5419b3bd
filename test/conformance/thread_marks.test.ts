import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { MarkFile, readMarks } from "../../adapters/installation/marks.ts";
import { xxh32 } from "../../src/storage/codec/checksum.ts";
import { type Server, startServer } from "../support/server.ts";

const settings = {
  THREADS: "2",
  DEFAULT_NUM_PARTITIONS: "2",
  STORAGE__DATABASES: "each",
  STORAGE__SYNCHRONOUS: "normal",
};
/** No partition of the data, so that no commit replaces its mark. */
const OTHER = 5;

let server: Server | undefined;
afterEach(() => server?.close());

/** Gives the marks to another start of the machine, whose end acknowledged commits may not have outlived. */
function ageMarks(file: string): void {
  const bytes = readFileSync(file);
  const text = "perdure 1 NORMAL another-start".padEnd(54);
  const sum = xxh32(new TextEncoder().encode(text)).toString(16).padStart(8, "0");
  bytes.write(`${text} ${sum}\n`, 0, "latin1");
  writeFileSync(file, bytes);
}

test("marks of another start of the machine are void, though threads open them as well", async () => {
  server = await startServer({ runtime: "node", settings });
  await server.stop("SIGTERM");
  const file = path.join(server.folder, "perdure.marks");
  const marks = new MarkFile(file, { synchronous: "NORMAL", isFresh: false, log: () => {} });
  marks.committed({ partition: OTHER, epoch: 3 }, 7);
  marks.close();
  ageMarks(file);
  expect(readMarks(file)?.isBinding).toBe(false);
  expect(readMarks(file)?.commits.has(OTHER)).toBe(true);
  await server.start();
  expect(readMarks(file)?.commits.has(OTHER)).toBe(false);
});
