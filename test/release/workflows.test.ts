import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readWorkflows, ROOT, stepsOf } from "./_workflows.ts";

const workflows = readWorkflows();
const release = workflows.get("release.yml")!;
const checks = workflows.get("checks.yml")!;
const all = [...workflows].flatMap(([file, one]) =>
  stepsOf(one).map((step) => ({ file, ...step }))
);
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));

test("actions are pinned to a commit, with the version beside it", () => {
  const used = all.flatMap(({ uses }) => uses ?? []);
  expect(used.length).toBeGreaterThan(5);
  for (const one of used) expect(one).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  for (const name of workflows.keys()) {
    const text = readFileSync(path.join(ROOT, ".github/workflows", name), "utf8");
    const bare = text.split("\n").filter((line) => /uses: [^.]/.test(line))
      .filter((line) => !/ # v\d+\.\d+\.\d+$/.test(line));
    expect(bare).toEqual([]);
  }
});

test("what the steps run is in the repository", () => {
  const files = all.flatMap(({ run = "" }) =>
    [...run.matchAll(/(?:node|bash|--file) ([\w./-]+)/g)].map(([, file]) => file!)
  );
  expect(files).toContain("adapters/release/make.mjs");
  expect(files).toContain(".ci/run");
  expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  const named = all.flatMap(({ run = "" }) =>
    [...run.matchAll(/npm (?:run (?:--silent )?([\w:]+)|(test))/g)].map(([, one, two]) =>
      one ?? two!
    )
  );
  expect(named).toEqual(expect.arrayContaining(["ui", "test"]));
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test("each job waits for the checks, on three systems with three versions of Node", () => {
  expect(release.on).toEqual({ push: { tags: ["v*"] } });
  expect(release.jobs["checks"]).toEqual({ uses: "./.github/workflows/checks.yml" });
  const waitsFor = (name: string): boolean =>
    name === "checks" || [release.jobs[name]?.needs ?? []].flat().some(waitsFor);
  expect(Object.keys(release.jobs).filter((name) => !waitsFor(name))).toEqual([]);
  expect(checks.jobs["systems"]?.strategy?.matrix).toEqual({
    system: [
      expect.stringMatching(/^ubuntu/),
      expect.stringMatching(/^macos/),
      expect.stringMatching(/^windows/),
    ],
    node: [20, 22, 24],
  });
});

test("a file to copy is made on each system, and its sum is among those that are published", () => {
  const systems = release.jobs["executables"]?.strategy?.matrix["system"] ?? [];
  for (const one of ["ubuntu-24.04", "ubuntu-24.04-arm"]) expect(systems).toContain(one);
  expect(systems).toContainEqual(expect.stringMatching(/^macos/));
  expect(systems).toContainEqual(expect.stringMatching(/^windows/));
  const steps = stepsOf(release).filter(({ job }) => job === "files");
  const brought = steps.findIndex((step) => step.uses?.startsWith("actions/download-artifact"));
  const summed = steps.findIndex(({ run }) => run?.endsWith("checksums.mjs dist/release"));
  expect(brought).toBeGreaterThan(-1);
  expect(summed).toBeGreaterThan(brought);
});

test("only the jobs that publish may write", () => {
  for (const one of workflows.values()) expect(one.permissions).toEqual({ contents: "read" });
  const writes = Object.entries(release.jobs).flatMap(([name, { permissions = {} }]) =>
    Object.entries(permissions).filter(([, level]) => level === "write")
      .map(([what]) => `${name}: ${what}`)
  );
  expect(writes).toEqual(["npm: id-token", "image: packages", "release: contents"]);
});

test("what is published was checked after it was handed on, and says where it was made", () => {
  const steps = stepsOf(release).filter(({ job }) => job === "npm").map(({ run = "" }) => run);
  const checked = steps.findIndex((run) => run.includes("checksums.mjs dist/release --check"));
  const published = steps.findIndex((run) => run.includes("npm publish"));
  expect(checked).toBeGreaterThan(-1);
  expect(published).toBeGreaterThan(checked);
  expect(steps[published]).toContain("--provenance");
  const build = stepsOf(release).find(({ run = "" }) => run.includes("buildx build"))?.run;
  expect(build).toContain("--platform linux/amd64,linux/arm64 --sbom=true");
});
