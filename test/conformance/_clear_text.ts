import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import path from "node:path";

/** A file, by its name and by the path it can be read at. */
interface Found {
  readonly name: string;
  readonly path: string;
}

/** The names of the files that hold a text: those in folders, and those that processes have open. */
export function filesWith(
  text: string,
  { folders, pids }: { readonly folders: readonly string[]; readonly pids: readonly number[] },
): string[] {
  const files = [...folders.flatMap(filesIn), ...pids.flatMap(openFilesOf)];
  return files.filter((file) => bytesOf(file).includes(text)).map(({ name }) => name);
}

function filesIn(folder: string): Found[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .map((file) => ({ name: path.relative(folder, file), path: file }));
}

/** Also of files that have no name any more. Linux only. */
function openFilesOf(pid: number): Found[] {
  const folder = `/proc/${pid}/fd`;
  return numbersIn(folder).flatMap((number) => {
    const file = `${folder}/${number}`;
    try {
      return statSync(file).isFile() ? [{ name: readlinkSync(file), path: file }] : [];
    } catch {
      // Closed since.
      return [];
    }
  });
}

function bytesOf({ path: file }: Found): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** A process and all that it started. Linux only. */
export function familyOf(pid: number): number[] {
  const children = numbersIn("/proc").filter((one) => parentOf(one) === pid);
  return [pid, ...children.flatMap(familyOf)];
}

function parentOf(pid: number): number | undefined {
  const [, parent] = /^PPid:\s+(\d+)$/m.exec(textOf(pid, "status")) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

/** What the system tells of a process: `cmdline`, `environ`. Empty: it has ended. */
export function textOf(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "utf8");
  } catch {
    return "";
  }
}
