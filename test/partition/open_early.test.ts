import { expect, test } from "vitest";
import type { Attempt, Effect } from "../../src/engine/effect.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import { openEarly, proceedFirst } from "../../src/partition/open_early.ts";
import { attempt } from "../outbound/_attempts.ts";

const REPLY: Effect = { type: "reply", reply: 1, id: "i", status: "accepted" };

function runner(running = 2) {
  const opened: Attempt[] = [];
  const nothing = () => {};
  const attempts: AttemptRunner = {
    ...{ start: nothing, notify: nothing, abort: nothing, yield: nothing, close: nothing },
    load: { running, waiting: 0 },
    openEarly: (effect) => void opened.push(effect),
  };
  return { attempts, opened };
}

test("one or two attempts of a commit are opened early", () => {
  const [one, two] = [attempt(), attempt()];
  for (const effects of [[one], [REPLY, one, REPLY], [one, REPLY, two]]) {
    const { attempts, opened } = runner();
    openEarly(attempts, effects);
    expect(opened).toEqual(effects.filter(({ type }) => type === "attempt"));
  }
});

test("none of many is, since their endpoint has enough to do", () => {
  const { attempts, opened } = runner();
  openEarly(attempts, [attempt(), attempt(), REPLY, attempt()]);
  expect(opened).toEqual([]);
});

test("none is while many run", () => {
  const { attempts, opened } = runner(9);
  openEarly(attempts, [attempt()]);
  expect(opened).toEqual([]);
});

test("without an attempt there is nothing to open, nor with a runner that cannot", () => {
  const { attempts, opened } = runner();
  openEarly(attempts, [REPLY]);
  const { openEarly: _, ...others } = attempts;
  openEarly(others, [attempt()]);
  expect(opened).toEqual([]);
});

test("what was opened proceeds first, unless something is aborted with it", () => {
  const { attempts } = runner();
  const begun: Attempt[] = [];
  const proceeding = { ...attempts, proceed: (effect: Attempt) => void begun.push(effect) };
  const one = attempt();
  proceedFirst(proceeding, [REPLY, one]);
  expect(begun).toEqual([one]);
  proceedFirst(proceeding, [{ type: "abort", id: "i", attempt: 1 }, one]);
  proceedFirst(attempts, [one]);
  expect(begun).toEqual([one]);
});
