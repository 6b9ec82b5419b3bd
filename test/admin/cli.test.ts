import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasReference } from "../protocol/_target.ts";
import { CLI_DIFFERENCES, type CliDifference, QUEUE_DIFFERENCES } from "./cli_differences.ts";
import { play, type Played } from "./cli_play.ts";
import { comparable } from "./cli_run.ts";
import { QUEUES_SCRIPT, SCRIPT } from "./cli_script.ts";
import { cliProgram } from "./clients_packages.ts";

const PLAY_MS = 100_000;
const PLAYS_MAX = 2;
const program = await cliProgram();
/** `CLI_OUTPUT=1` prints what the command line says to a user of our server. */
const isShown = process.env["CLI_OUTPUT"] !== undefined;

const FLOW_CONTROL = {
  "experimental-enable-vqueues": "true",
  "experimental-enable-scoped-virtual-objects": "true",
};

describe.skipIf(program === undefined).each([
  { day: "a user's day", script: SCRIPT, settings: {}, differences: CLI_DIFFERENCES },
  { day: "queues", script: QUEUES_SCRIPT, settings: FLOW_CONTROL, differences: QUEUE_DIFFERENCES },
])("the command line, unmodified: $day", ({ script, settings, differences }) => {
  let ours: readonly Played[] = [];
  let theirs: readonly Played[] | undefined;
  beforeAll(async () => {
    const wanted = { script, settings };
    // What it prints has states and ages, which a machine that stands still changes: played once more.
    for (let plays = 0; plays < PLAYS_MAX && (plays === 0 || unlistedLines().length > 0); plays++) {
      [ours, theirs] = await Promise.all([
        play("perdure", program ?? "", wanted),
        hasReference() ? play("reference", program ?? "", wanted) : undefined,
      ]);
    }
  }, PLAYS_MAX * PLAY_MS);
  const differing = () => ours.map((one, index) => difference(one, theirs?.[index]));
  const unlistedLines = () =>
    theirs === undefined ? [] : differing().flatMap((one) => unlisted(one, differences));
  afterAll(() => {
    if (isShown) { for (const { line, said } of ours) console.log(`$ ${line}\n${said.text}`); }
  });

  test.each(script.map(({ run }, index) => ({ run, index })))("$index: $run", ({ index }) => {
    expect(ours[index]?.missing, ours[index]?.said.text).toEqual([]);
    // The script is right about the server it was made for, too.
    if (theirs) expect(theirs[index]?.missing, theirs[index]?.said.text).toEqual([]);
  });

  test("it prints what it prints with the reference, but for the differences that are listed", ({ skip }) => {
    skip(theirs === undefined, "there is no reference server here");
    expect(unlistedLines().join("\n")).toBe("");
    const isSeen = (listed: CliDifference) =>
      differing().some((one) =>
        one.ours.some((line) => isListed(listed, { line, one, of: "ours" })) ||
        one.theirs.some((line) => isListed(listed, { line, one, of: "theirs" }))
      );
    expect(differences.filter((listed) => !isSeen(listed))).toEqual([]);
  });
});

interface LinesOfOne {
  readonly line: string;
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

function difference({ line, said, isLoose }: Played, other: Played | undefined): LinesOfOne {
  const left = comparable(said, isLoose);
  const right = other ? comparable(other.said, isLoose) : [];
  return { line, ours: minus(left, right), theirs: minus(right, left) };
}

function unlisted(one: LinesOfOne, differences: readonly CliDifference[]): string[] {
  const isNew = (of: "ours" | "theirs") => (line: string) =>
    !differences.some((listed) => isListed(listed, { line, one, of }));
  const both = [
    ...one.ours.filter(isNew("ours")).map((line) => `  ours only:   ${line}`),
    ...one.theirs.filter(isNew("theirs")).map((line) => `  theirs only: ${line}`),
  ];
  return both.length === 0 ? [] : [one.line, ...both];
}

interface Line {
  readonly line: string;
  readonly one: LinesOfOne;
  readonly of: "ours" | "theirs";
}

function isListed(listed: CliDifference, { line, one, of }: Line): boolean {
  return listed.run.test(one.line) && (listed[of]?.test(line) ?? false);
}

/** Lines of the first that the second has not, counted. */
function minus(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return lines.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
