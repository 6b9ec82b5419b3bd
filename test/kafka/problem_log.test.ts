import { expect, test } from "vitest";
import { ProblemLog } from "../../adapters/kafka/problem_log.ts";

function log() {
  const logged: (readonly [message: string, notLogged: number])[] = [];
  const time = { ms: 0 };
  const problems = new ProblemLog({
    log: (message, notLogged) => void logged.push([message, notLogged]),
    now: () => time.ms,
  });
  return { logged, time, problems };
}

test("problems that take turns are logged once each, for as long as they go on", () => {
  const { logged, time, problems } = log();
  for (let n = 0; n < 1_000; n++) {
    time.ms += 10_000;
    problems.add("partition 0");
    problems.add("partition 1");
  }
  expect(logged).toEqual([["partition 0", 0], ["partition 1", 0]]);
  time.ms += 3_600_000;
  problems.add("partition 0");
  expect(logged.at(-1)).toEqual(["partition 0", 0]);
  expect(logged).toHaveLength(3);
});

test("what was wrong before all was well is logged again", () => {
  const { logged, problems } = log();
  problems.add("a");
  problems.clear();
  expect(problems.isOpen).toBe(false);
  problems.add("a");
  expect(logged).toHaveLength(2);
});

test("of a thousand bad records ten are logged in a minute, and the rest are counted", () => {
  const { logged, time, problems } = log();
  for (let n = 0; n < 1_000; n++) problems.add(`record ${n}`);
  expect(logged.map(([message]) => message))
    .toEqual(Array.from({ length: 10 }, (_, n) => `record ${n}`));
  time.ms += 60_000;
  problems.add("another");
  expect(logged.at(-1)).toEqual(["another", 990]);
});
