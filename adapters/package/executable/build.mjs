import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { inject } from "postject";

/**
 * Writes one file to copy: the Node that runs this script, with the program in it (decision 086). For the
 * system and processor of this machine. The first argument names the file; it is `dist/perdure-<system>-<processor>`
 * otherwise. The UI is built before. Takes some 5 s.
 */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Of the package: what other runtimes start. */
const LEFT_OUT = ["deno.mjs", "workerd.mjs"];
/** Of the packages that it needs: what Node reads at run time. */
const READ = /\.(?:[cm]?js|json|node)$/;
const UNREAD_FOLDERS = ["types", "test"];
/** Where Node looks for the program: both are fixed by Node. */
const RESOURCE = "NODE_SEA_BLOB", FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const target = path.resolve(process.argv[2] ?? path.join(ROOT, `dist/${nameHere()}`));
const folder = await mkdtemp(path.join(tmpdir(), "executable-"));
try {
  await makeExecutable();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** As the release names it. */
function nameHere() {
  const end = process.platform === "win32" ? ".exe" : "";
  return `perdure-${process.platform}-${process.arch}${end}`;
}

async function makeExecutable() {
  const packageFolder = path.join(folder, "package");
  execFileSync(process.execPath, [path.join(ROOT, "adapters/package/build.mjs"), packageFolder]);
  const contents = await packed(packageFolder);
  const config = {
    main: path.join(HERE, "start.cjs"),
    output: path.join(folder, "program.blob"),
    disableExperimentalSEAWarning: true,
    assets: await assetsOf(contents),
  };
  await writeFile(path.join(folder, "config.json"), JSON.stringify(config));
  const flags = ["--experimental-sea-config", path.join(folder, "config.json")];
  execFileSync(process.execPath, flags, { stdio: ["ignore", "ignore", "inherit"] });
  const made = path.join(folder, "made");
  await copyFile(process.execPath, made);
  await chmod(made, 0o755);
  const isMac = process.platform === "darwin";
  // The signature of the copied program is not valid for the new one, and macOS runs none without.
  if (isMac) execFileSync("codesign", ["--remove-signature", made]);
  const options = { sentinelFuse: FUSE, ...(isMac && { machoSegmentName: "NODE_SEA" }) };
  await inject(made, RESOURCE, await readFile(config.output), options);
  if (isMac) execFileSync("codesign", ["--sign", "-", made]);
  await copyFile(made, target);
  await chmod(target, 0o755);
}

/** The files of the program by their names in the archive, in a fixed order. */
async function packed(packageFolder) {
  const files = new Map();
  for (const name of await readdir(path.join(packageFolder, "dist"))) {
    if (!LEFT_OUT.includes(name)) files.set(`dist/${name}`, path.join(packageFolder, "dist", name));
  }
  files.set("import.cjs", path.join(HERE, "import.cjs"));
  const manifest = path.join(packageFolder, "package.json");
  files.set("package.json", manifest);
  const { dependencies } = JSON.parse(await readFile(manifest, "utf8"));
  for (const name of Object.keys(dependencies)) await addPackage(files, name, ROOT);
  const names = [...files.keys()].sort();
  return await Promise.all(names.map(async (name) => [name, await readFile(files.get(name))]));
}

/** Adds a package with those that it needs, as they are installed. Optional ones of other systems are not. */
async function addPackage(files, name, from) {
  const at = installed(name, from);
  if (!at) return;
  const to = path.relative(ROOT, at).replaceAll(path.sep, "/");
  if (files.has(`${to}/package.json`)) return;
  for (const file of await filesIn(at)) {
    files.set(`${to}/${path.relative(at, file).replaceAll(path.sep, "/")}`, file);
  }
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(path.join(at, "package.json"), "utf8"),
  );
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) {
    await addPackage(files, one, at);
  }
}

/** Looks where Node does. Of the database for two C libraries, that of the library here is taken. */
function installed(name, from) {
  if (/^@libsql\/linux-.*-(gnu|musl)$/.test(name) && !name.endsWith(cLibrary())) return undefined;
  const lookups = createRequire(path.join(from, "package.json")).resolve.paths(name) ?? [];
  return lookups.map((one) => path.join(one, name)).find(existsSync);
}

function cLibrary() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "gnu";
}

async function filesIn(at) {
  const found = [];
  for (const entry of await readdir(at, { withFileTypes: true })) {
    const file = path.join(at, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && !UNREAD_FOLDERS.includes(entry.name)) {
        found.push(...await filesIn(file));
      }
    } else if (READ.test(entry.name)) found.push(file);
  }
  return found;
}

/** The archive, and its index with the digest of each file, by whose digest the folder is named. */
async function assetsOf(contents) {
  const digestOf = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const files = contents.map(([name, bytes]) => ({
    name,
    size: bytes.length,
    sha256: digestOf(bytes),
  }));
  const index = { digest: digestOf(JSON.stringify(files)), files };
  const assets = {
    index: path.join(folder, "index.json"),
    archive: path.join(folder, "archive.gz"),
  };
  await writeFile(assets.index, JSON.stringify(index));
  const all = Buffer.concat(contents.map(([, bytes]) => bytes));
  await writeFile(assets.archive, gzipSync(all, { level: 9 }));
  return assets;
}
