import { TARGET } from "./_target.ts";

/**
 * Where we decided not to do what the reference does: the number of the check, and what the
 * reference does instead. These checks are skipped with `TARGET=reference`.
 */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  "5": "refuses a manifest with an unknown field, so that a newer SDK cannot be registered",
  "15e": "answers PUT with 405, under version 2 of the API as PATCH; ours takes over new handlers",
  "86b": "the same",
  "86c": "pauses no deployments",
  "69b": "lets attempts that only wait hold their slots until the inactivity timeout",
  "69c": "the same: callers wait a minute for those that they call",
  "74":
    "after a cancellation was caught, every suspension is woken by it again: a hot loop of attempts",
  "74b": "the same",
  "85b":
    'says "the workflow method was already invoked"; the documented words are "Previously accepted"',
  "89b":
    "gives the restarted one another seed, so that random values in the copied prefix do not repeat",
  "49": "ends an invocation at an End without an Output, and leaves its callers without an answer",
  "68b": "crashes a partition on a command of an unassigned type or with an undecodable body",
  "120": "knows no priorities",
  "120b": "the same",
  "120c": "the same",
  "42c": "loses signals to an invocation that waits for its time or its turn; ours keeps them",
  "124b": "loses the slot of the invoker when the head of those that wait for it is killed",
  "103": "does not run those that held slots again within ten seconds of a crash",
  "105": "limits scopes only: no service, no handler, no rate, no priority, no pause of a service",
  "106": "the same",
  "107": "the same",
  "107b": "the same",
  "108": "the same",
  "109": "the same",
  "69d": "knows no priorities",
  "69e": "the same",
  "110": "has no columns that say what an invocation waits for",
  "111": "the same",
  "112": "the same",
  "113": "the same",
  "114": "the same",
  "115": "runs what comes into a paused queue that was empty",
  "115b": "mostly loses the slot of the invoker when the queue of the head is paused",
  "130": "limits scopes only",
  "131": "the same",
  "132": "the same",
  "133": "the same",
  "134": "has no columns that say what an invocation waits for",
  "135": "the same",
  "136": "the same",
  "137": "the same",
  "138": "the same",
};

/** Whether a check, by its name, tells of something the server under test is known not to do. */
export function isDifference(name: string): boolean {
  const [number = ""] = name.split(" ");
  return TARGET === "reference" && Object.hasOwn(DIFFERENCES, number);
}
