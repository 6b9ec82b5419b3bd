"use strict";
/**
 * The first script of the executable. The program itself lies in it as an archive, which is unpacked once
 * into a folder of the user: the database's native module, threads and other processes need files. Later
 * starts compare each file with its digest, so that a damaged or foreign one is never run.
 *
 * It is CommonJS and loads built-in modules only: nothing else can be in an executable of Node 20 to 24.
 */
const crypto = require("node:crypto");
const fs = require("node:fs");
const { createRequire } = require("node:module");
const os = require("node:os");
const path = require("node:path");
const sea = require("node:sea");
const { pathToFileURL } = require("node:url");
const zlib = require("node:zlib");

const PROGRAM = "dist/perdure.mjs";
/** It imports a file, which this script itself cannot. */
const IMPORTER = "import.cjs";
/** How folders begin into which files are written before they are renamed. */
const NEW = "new-";
/** No start takes so long. */
const LEFT_MS = 60 * 60 * 1000;

try {
  run(unpacked());
} catch (cause) {
  process.stderr.write(
    `[RT0039] Cannot unpack the program: ${cause.message}. Name a folder that only this user ` +
      "can write and run programs in by PERDURE_UNPACK_DIR.\n",
  );
  process.exitCode = 1;
}

/**
 * Runs the program, or the file of its own that it starts as another process: options of Node stand before
 * it, which an executable does not take, and which come by NODE_OPTIONS as well.
 */
function run(folder) {
  const words = process.argv.slice(2);
  const at = words.findIndex((word) => !word.startsWith("-"));
  const isOwn = at >= 0 && path.dirname(words[at]) === path.join(folder, "dist");
  const script = isOwn ? words[at] : path.join(folder, PROGRAM);
  process.argv = [process.execPath, script, ...isOwn ? words.slice(at + 1) : words];
  const importer = createRequire(path.join(folder, IMPORTER))(path.join(folder, IMPORTER));
  importer(pathToFileURL(script).href).catch((cause) => {
    process.stderr.write(`${cause?.stack ?? cause}\n`);
    process.exit(70);
  });
}

/**
 * The folder with the program, which is as it was packed. What is not gets written elsewhere and renamed into
 * its place, file by file: others may start at the same time, or run already, and each file is whole at any
 * moment.
 */
function unpacked() {
  const { digest, files } = JSON.parse(sea.getAsset("index", "utf8"));
  const parent = ownFolder(process.env.PERDURE_UNPACK_DIR ?? path.join(cacheFolder(), "perdure"));
  const folder = path.join(parent, digest);
  removeForeign(folder, files);
  if (files.every((file) => isWhole(folder, file))) return folder;
  removeLeft(parent);
  const made = fs.mkdtempSync(path.join(parent, NEW));
  try {
    unpack(files, { made, folder });
  } finally {
    fs.rmSync(made, { recursive: true, force: true });
  }
  return folder;
}

function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === "win32") return LOCALAPPDATA ?? path.join(os.homedir(), "AppData/Local");
  if (process.platform === "darwin") return path.join(os.homedir(), "Library/Caches");
  return XDG_CACHE_HOME && path.isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : path.join(os.homedir(), ".cache");
}

/** Makes the folder, which only this user may write into. */
function ownFolder(folder) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (isForeign(fs.statSync(folder))) {
    throw new Error(`${folder} belongs to another user, or others may write into it`);
  }
  return folder;
}

/** Whether somebody else may change it. Windows has no such bits, and keeps other users out of the folder. */
function isForeign({ uid, mode }) {
  return process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0);
}

/**
 * Removes what is not of the program, and what others may change: it was put there while the folder above was
 * open to them. A package beside the program would be found before its own, and the right contents behind a
 * link could be changed after they are compared. What is of the program is unpacked again.
 */
function removeForeign(folder, files) {
  const names = new Set(files.map(({ name }) => name));
  const folders = new Set(files.flatMap(({ name }) => foldersOf(name)));
  const look = (name) => {
    const place = path.join(folder, name);
    const found = fs.lstatSync(place, { throwIfNoEntry: false });
    if (!found) return;
    const isFolder = found.isDirectory() && folders.has(name);
    const isFile = found.isFile() && names.has(name);
    if (isForeign(found) || !(isFolder || isFile)) {
      fs.rmSync(place, { recursive: true, force: true });
    } else if (isFolder) {
      for (const one of fs.readdirSync(place)) look(path.posix.join(name, one));
    }
  };
  look(".");
}

/** The folders in which a file lies: `.`, `dist`. */
function foldersOf(name) {
  const above = path.posix.dirname(name);
  return above === "." ? [above] : [...foldersOf(above), above];
}

function isWhole(folder, { name, sha256 }) {
  try {
    return digestOf(fs.readFileSync(path.join(folder, name))) === sha256;
  } catch (cause) {
    if (cause.code === "ENOENT" || cause.code === "ENOTDIR") return false;
    throw cause;
  }
}

function digestOf(bytes) {
  return crypto.createHash("sha256").update(bytes).digest("hex");
}

/** Writes the files that are missing or are not what they should be. */
function unpack(files, { made, folder }) {
  const archive = zlib.gunzipSync(Buffer.from(sea.getRawAsset("archive")));
  let at = 0;
  for (const file of files) {
    const bytes = archive.subarray(at, at += file.size);
    if (isWhole(folder, file)) continue;
    const [written, place] = [path.join(made, "file"), path.join(folder, file.name)];
    // Not flushed: what a crash leaves torn is found by its digest.
    fs.writeFileSync(written, bytes, { mode: 0o600 });
    fs.mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
    try {
      fs.renameSync(written, place);
    } catch (cause) {
      // Windows replaces no file that a process has loaded, which is then one that another start has written.
      if (!isWhole(folder, file)) throw cause;
    }
  }
}

/** Removes what starts have left that ended while they unpacked. */
function removeLeft(parent) {
  for (const name of fs.readdirSync(parent)) {
    const left = path.join(parent, name);
    if (!name.startsWith(NEW)) continue;
    const found = fs.statSync(left, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > LEFT_MS) {
      fs.rmSync(left, { recursive: true, force: true });
    }
  }
}
