import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { writeSums } from "./checksums.mjs";
import { isMain, npm, PACKAGES, readManifest, ROOT } from "./packages.mjs";

/**
 * Makes the files of a release: `node make.mjs FOLDER [PACKAGE…]`. The UI is built before. For each
 * package a tarball and what it is made of (SPDX, CycloneDX), then the sums of all.
 */
const FORMATS = { spdx: "spdx.json", cyclonedx: "cdx.json" };

/** Why a tarball must not be published, a sentence each. `packed`: what `npm pack --json` says of it. */
export function faultsOf({ files, name, bytesMax }, packed) {
  const faults = packed.files.map(({ path }) => path)
    .filter((file) => !files.some((one) => one.test(file)))
    .map((file) => `${name} has ${file}, which its users do not need`);
  if (packed.size > bytesMax) faults.push(`${name} has ${packed.size} bytes, not ${bytesMax}`);
  return faults;
}

/** Builds a package and packs it into `folder`. Throws when it has what it must not have. */
export function pack(about, folder) {
  const made = mkdtempSync(path.join(tmpdir(), "release-"));
  try {
    execFileSync(process.execPath, [path.join(ROOT, about.build), made], { stdio: "inherit" });
    const { version } = readManifest();
    const manifest = JSON.parse(readFileSync(path.join(made, "package.json"), "utf8"));
    if (manifest.name !== about.name || manifest.version !== version) {
      const found = `${manifest.name} ${manifest.version}`;
      throw new Error(`Cannot pack ${about.name} ${version}: its manifest says ${found}`);
    }
    // What would be in it is looked at before there is something to upload.
    const [planned] = JSON.parse(npm(["pack", made, "--dry-run", "--json"]));
    const faults = faultsOf(about, planned);
    if (faults.length > 0) throw new Error(faults.join("\n"));
    const [packed] = JSON.parse(npm(["pack", made, "--json", "--pack-destination", folder]));
    return packed;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/**
 * What a release is made of, from the lock file: the tarball's dependencies, and what is bundled into it.
 * `format`: a key of `FORMATS`.
 */
export function bill(format) {
  return npm(["sbom", "--package-lock-only", "--omit=dev", `--sbom-format=${format}`]);
}

if (isMain(import.meta)) {
  const [target = "dist/release", ...names] = process.argv.slice(2);
  const folder = path.resolve(target);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const wanted = PACKAGES.filter(({ name }) => names.length === 0 || names.includes(name));
  for (const one of wanted) process.stdout.write(`${pack(one, folder).filename}\n`);
  const { name, version } = readManifest();
  for (const [format, end] of Object.entries(FORMATS)) {
    writeFileSync(path.join(folder, `${name}-${version}.${end}`), bill(format));
  }
  await writeSums(folder);
}
