import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataFolder } from "../../adapters/installation/folder.ts";
import { openLock } from "../../adapters/libsql/file/open.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(path.join(tmpdir(), "folder-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (folder: string) => openDataFolder(folder, { madeBy: "1.2.3", openLock });
const at = (...names: string[]) => path.join(root, ...names);

test("makes the folder and notes who made it", async () => {
  const folder = await open(at("a", "b c#?%41"));
  expect(JSON.parse(readFileSync(at("a", "b c#?%41", "perdure.json"), "utf8"))).toEqual({
    format: 1,
    madeBy: "1.2.3",
  });
  expect(new URL(folder.databaseUrl).protocol).toBe("file:");
  await folder.close();
});

test("opens its own folder again, also when it was made by another version", async () => {
  await (await open(at("a"))).close();
  writeFileSync(at("a", "perdure.json"), JSON.stringify({ format: 1, madeBy: "9" }));
  await (await open(at("a"))).close();
  expect(readFileSync(at("a", "perdure.json"), "utf8")).toContain(`"9"`);
});

test("refuses a folder somebody else has: RT0005", async () => {
  const folder = await open(at("a"));
  await expect(open(at("a"))).rejects.toMatchObject({ code: "RT0005" });
  await folder.close();
  await (await open(at("a"))).close();
});

test("refuses a folder that holds something else, and leaves nothing there: META0011", async () => {
  writeFileSync(at("letter.txt"), "");
  await expect(open(root)).rejects.toMatchObject({ code: "META0011" });
  expect(readdirSync(root)).toEqual(["letter.txt"]);
});

test("refuses a database without version file: RT0009", async () => {
  writeFileSync(at("perdure.db"), "");
  await expect(open(root)).rejects.toMatchObject({ code: "RT0009" });
});

test.each(["", "{", "null", "[]", '{"format":2,"madeBy":"9.9"}', '{"format":"1"}'])(
  "refuses another format, and lets go of the folder: META0010 for %j",
  async (text) => {
    writeFileSync(at("perdure.json"), text);
    await expect(open(root)).rejects.toMatchObject({ code: "META0010" });
    writeFileSync(at("perdure.json"), '{"format":1}');
    await (await open(root)).close();
  },
);

test("takes a folder that a start left behind half made", async () => {
  await (await open(root)).close();
  rmSync(at("perdure.json"));
  writeFileSync(at("perdure.json.new"), '{"for');
  mkdirSync(at("lost+found"));
  await (await open(root)).close();
  expect(readdirSync(root)).toContain("perdure.json");
});

test("says which folder cannot be used when it is a file", async () => {
  writeFileSync(at("file"), "");
  await expect(open(at("file"))).rejects.toMatchObject({ name: "Failure", code: null });
  await expect(open(at("file", "below"))).rejects.toThrow(/Cannot use ".*below"/);
});

test("names a file that cannot be opened, and says what to do", async () => {
  mkdirSync(at("perdure.lock"));
  await expect(open(root)).rejects.toThrow(
    /Cannot use ".*perdure\.lock": it cannot be opened for writing; let the user of this process/,
  );
});

test.skipIf(process.getuid?.() === 0)("names a folder that cannot be written", async () => {
  chmodSync(root, 0o555);
  await expect(open(root)).rejects.toThrow(/Cannot use ".*": EACCES.*; let the user of this/);
});
