import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildUi, denoProgram } from "../support/build.ts";
import { scripts } from "./_scripts.ts";
import { ROOT } from "./_workflows.ts";

const { bill, differences, disagreements, faultsOf, headingsOf, notesOf, npmCommand, pack } =
  scripts;
const { PACKAGES, readManifest, readVersions, writeJsr, writeSums } = scripts;

const folder = mkdtempSync(path.join(tmpdir(), "release-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** npm takes seconds to start on a machine that is busy. */
const PATIENT = { timeout: 60_000 };
const run = (name: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [path.join(ROOT, "adapters/release", name), ...args], {
    encoding: "utf8",
  });

describe("versions", () => {
  const released =
    "# Changelog\n\n## 1.2.3 (2026-11-26)\n\nMore.\n\n## 1.2.2 (2026-01-02)\n\nLess.\n";
  const agreed = {
    ...{ tag: "v1.2.3", manifest: "1.2.3", lock: ["1.2.3", "1.2.3"], program: "1.2.3" },
    changelog: released,
  };

  test("of this repository agree", () => {
    expect(disagreements(readVersions(undefined))).toEqual([]);
    expect(run("versions.mjs")).toMatchObject({ status: 0, stderr: "" });
  });

  test("another tag than the version is refused", () => {
    const { status, stderr } = run("versions.mjs", "v99.0.0");
    expect(status).toBe(1);
    expect(stderr).toContain(`the tag says 99.0.0, package.json says ${readManifest().version}`);
  });

  test.for<readonly [object, string]>([
    [{ lock: ["1.2.2", "1.2.3"] }, "package-lock.json says 1.2.2, package.json says 1.2.3"],
    [{ lock: ["1.2.3", "1"] }, "the root of package-lock.json says 1, package.json says 1.2.3"],
    [{ program: "1.2.4" }, "adapters/platform/version.ts says 1.2.4, package.json says 1.2.3"],
    [{ deno: "1.2.2" }, "deno.json says 1.2.2, package.json says 1.2.3"],
    [{ changelog: "## 1.2.2 (2026-01-02)\n" }, "CHANGELOG.md says 1.2.2, package.json says 1.2.3"],
    [{ changelog: "## 1.2.3 (not released)\n" }, "CHANGELOG.md has no date beside 1.2.3"],
    [{ tag: "1.2.3" }, `The tag 1.2.3 has no "v"`],
  ])("that disagree are named: %j", ([other, said]) => {
    expect(disagreements(agreed)).toEqual([]);
    expect(disagreements({ ...agreed, ...other })).toEqual([said]);
  });

  test("have the notes of the changelog, and no other's", () => {
    expect(headingsOf(released).map(({ version }) => version)).toEqual(["1.2.3", "1.2.2"]);
    expect(notesOf(released, "1.2.3")).toBe("More.\n");
    expect(notesOf(released, "1.2.2")).toBe("Less.\n");
    expect(() => notesOf(released, "1.2")).toThrow("CHANGELOG.md says nothing of 1.2");
    const { version } = readManifest();
    expect(run("notes.mjs", `v${version}`).stdout).toMatch(/^### Added\n/);
    expect(run("notes.mjs", "99.0.0")).toMatchObject({ status: 1, stdout: "" });
  });

  test("links of the notes lead to the files of the tag", () => {
    const notes = "## 1.0.0\n\n[a](docs/a.md#b), [c](https://c.test/), [d](#d)\n";
    expect(notesOf(notes, "1.0.0", "https://host.test/repo")).toBe(
      "[a](https://host.test/repo/blob/v1.0.0/docs/a.md#b), [c](https://c.test/), [d](#d)\n",
    );
  });
});

describe("packages", () => {
  beforeAll(buildUi);

  test.for(PACKAGES)("$name is packed without what users do not need", PATIENT, (about) => {
    const packed = pack(about, folder);
    expect(existsSync(path.join(folder, packed.filename))).toBe(true);
    expect(packed).toMatchObject({ name: about.name, version: readManifest().version });
    expect(packed.files.length).toBeGreaterThan(2);
  });

  test("what is not needed, and what is too large, is refused", () => {
    const [about] = PACKAGES;
    const files = ["dist/node.mjs", "dist/node.mjs.map", "test/a.test.ts", "index.d.mts", ".env"];
    const packed = { files: files.map((path) => ({ path })), size: about!.bytesMax + 1 };
    expect(faultsOf(about!, packed)).toEqual([
      "perdure has dist/node.mjs.map, which its users do not need",
      "perdure has test/a.test.ts, which its users do not need",
      "perdure has .env, which its users do not need",
      "perdure has 3000001 bytes, not 3000000",
    ]);
  });

  test("npm is started through the shell on Windows alone", () => {
    const args = ["pack", "C:\\a folder"];
    expect(npmCommand(args, "linux")).toEqual({ file: "npm", args, shell: false });
    const quoted = ['"pack"', '"C:\\a folder"'];
    expect(npmCommand(args, "win32")).toEqual({ file: "npm.cmd", args: quoted, shell: true });
  });

  test("the package of JSR passes a dry run of its publication", () => {
    const at = path.join(folder, "jsr");
    writeJsr(at);
    const args = ["publish", "--dry-run", "--allow-dirty"];
    const { status, stderr } = spawnSync(denoProgram(), args, {
      ...{ cwd: at, encoding: "utf8" },
      env: { ...process.env, NO_COLOR: "1" },
    });
    expect(stderr).toContain("Dry run complete");
    expect(stderr).toContain(`@perdure/perdure@${readManifest().version}`);
    expect(status).toBe(0);
  }, 30_000);
});

describe("what a release is made of", () => {
  // Without it the others are bundled, or installed beside the tarball.
  const { esbuild: _, ...inIt } = readManifest().dependencies;

  test("SPDX names what is in it and what it needs, and no tool of the tests", PATIENT, () => {
    const { spdxVersion, packages } = JSON.parse(bill("spdx"));
    const names = packages.map(({ name }: { readonly name: string }) => name);
    expect(spdxVersion).toMatch(/^SPDX-2/);
    expect(names).toEqual(expect.arrayContaining(Object.keys(inIt)));
    for (const tool of ["vitest", "miniflare", "playwright-core"]) {
      expect(names).not.toContain(tool);
    }
  });

  test("CycloneDX has the same with versions", PATIENT, () => {
    const { bomFormat, components } = JSON.parse(bill("cyclonedx"));
    expect(bomFormat).toBe("CycloneDX");
    expect(components).toContainEqual(
      expect.objectContaining({ name: "kafkajs", version: inIt["kafkajs"] }),
    );
  });
});

describe("checksums", () => {
  const at = mkdtempSync(path.join(tmpdir(), "sums-"));
  afterAll(() => rmSync(at, { recursive: true, force: true }));

  test("are those of sha256sum, and find what is changed, missing or new", async () => {
    await expect(writeSums(at)).rejects.toThrow("There is nothing");
    for (const name of ["a.tgz", "b.json", "c d.txt"]) writeFileSync(path.join(at, name), name);
    await writeSums(at);
    execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: at, stdio: "pipe" });
    expect(await differences(at)).toEqual([]);
    appendFileSync(path.join(at, "a.tgz"), "!");
    rmSync(path.join(at, "b.json"));
    writeFileSync(path.join(at, "e.txt"), "");
    expect(await differences(at)).toEqual([
      "b.json is missing",
      "a.tgz is changed",
      "e.txt is not in SHA256SUMS",
    ]);
    expect(run("checksums.mjs", at, "--check").status).toBe(1);
  });

  test("a release is its tarballs, what they are made of and the sums of all", () => {
    const target = path.join(folder, "all");
    expect(run("make.mjs", target).stderr).toBe("");
    const { version } = readManifest();
    expect(readdirSync(target).sort()).toEqual(
      [
        "SHA256SUMS",
        `perdure-${version}.cdx.json`,
        `perdure-${version}.spdx.json`,
        ...PACKAGES.map(({ name }) => `${name}-${version}.tgz`),
      ].sort(),
    );
    expect(readFileSync(path.join(target, "SHA256SUMS"), "utf8").trimEnd().split("\n"))
      .toHaveLength(2 + PACKAGES.length);
    expect(run("checksums.mjs", target, "--check").status).toBe(0);
  }, 60_000);
});
