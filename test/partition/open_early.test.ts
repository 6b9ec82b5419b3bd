import { expect, test } from "vitest";
import type { Attempt, Effect } from "../../src/engine/effect.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import { openEarly } from "../../src/partition/open_early.ts";
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
    expect(openEarly(attempts, effects)).toBe(true);
    expect(opened).toEqual(effects.filter(({ type }) => type === "attempt"));
  }
});

test("none of many is, since their endpoint has enough to do", () => {
  const { attempts, opened } = runner();
  expect(openEarly(attempts, [attempt(), attempt(), REPLY, attempt()])).toBe(false);
  expect(opened).toEqual([]);
});

test("none is while many run", () => {
  const { attempts, opened } = runner(9);
  expect(openEarly(attempts, [attempt()])).toBe(false);
  expect(opened).toEqual([]);
});

test("without an attempt there is nothing to open, nor with a runner that cannot", () => {
  const { attempts, opened } = runner();
  expect(openEarly(attempts, [REPLY])).toBe(false);
  const { openEarly: _, ...others } = attempts;
  expect(openEarly(others, [attempt()])).toBe(false);
  expect(opened).toEqual([]);
});
