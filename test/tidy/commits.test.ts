import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** Messages of later commits are checked. */
const START = "d6b661b93eb39b6b0f4e44d349430ea40b653e51";
const SUBJECT_MAX = 72;
/** `area: what is now true`, where areas are folders or files. */
const SUBJECT = /^[\w./-]+(, [\w./-]+)*: \S.*[^.]$/;

interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly body: string;
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: REPOSITORY, encoding: "utf8", stdio: "pipe" });
}

/** Commits since `START`, merges left out. Undefined where this checkout does not know them. */
function commits(): Commit[] | undefined {
  try {
    git("merge-base", "--is-ancestor", START, "HEAD");
  } catch {
    return undefined;
  }
  return git("log", "--no-merges", "--format=%h%x00%s%x00%b%x01", `${START}..HEAD`)
    .split("\x01").map((text) => text.trim().split("\0"))
    .filter(([hash]) => hash)
    .map(([hash = "", subject = "", body = ""]) => ({ hash, subject, body: body.trim() }));
}

/** What is wrong with the form of a message. Undefined: nothing. */
function flaw({ subject, body }: Commit): string | undefined {
  if (subject.length > SUBJECT_MAX) {
    return `its subject has ${subject.length} characters, ${SUBJECT_MAX} are allowed`;
  }
  if (!SUBJECT.test(subject)) return `its subject is not "area: what is now true"`;
  return body === "" ? "it has no body that says why" : undefined;
}

const known = commits();
const skipped = known ? "" : " (skipped: no git, or a history that does not reach far enough)";

describe("messages of commits", () => {
  test.skipIf(!known)(`have the form of CONTRIBUTING.md${skipped}`, () => {
    const flaws = known!.flatMap((commit) => {
      const why = flaw(commit);
      return why ? [`${commit.hash} ${commit.subject}: ${why}`] : [];
    });
    expect(flaws).toEqual([]);
  });

  test.each([
    ["partition: claim the lease before the first load", "Why.", undefined],
    ["src/wire, docs: a reader of its own", "Why.", undefined],
    ["fix bug", "Why.", `its subject is not "area: what is now true"`],
    ["docs: it ends with a period.", "Why.", `its subject is not "area: what is now true"`],
    ["docs: nobody says why", "", "it has no body that says why"],
    [`docs: ${"x".repeat(67)}`, "Why.", "its subject has 73 characters, 72 are allowed"],
  ])("%s", (subject, body, why) => {
    expect(flaw({ hash: "", subject, body })).toBe(why);
  });
});
