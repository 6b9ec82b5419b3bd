import type { Effect } from "../../src/engine/effect.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { isSame, lives, type Story } from "./story.ts";

/** Nothing that the world is told was not durable before. Throws `Broken`. */
export function mustBeDurable(history: History, effect: Effect): void {
  if (effect.type === "notify") news(history, effect);
  else if (effect.type === "attempt") attempt(history, effect);
  else if (effect.type === "abort" || effect.type === "yield") {
    const { id, attempt } = effect;
    const isKnown = [...lives(history.story(id))].some(({ row }) => row.attempt >= attempt);
    must(isKnown, () => `"${id}" heard of attempt #${attempt} before it was durable`);
  }
}

function news(history: History, { id, index, entry, attempt }: Effect & { type: "notify" }): void {
  const isRight = ({ row, entries, result }: Story) =>
    row.attempt >= attempt &&
    // What came in the turn that ended it all, and took the journal with it, was never stored.
    (index >= entries.length ? result !== undefined : isSame(entries[index], entry));
  const current = history.story(id);
  const isTrue = [...lives(current)].some(isRight);
  // No attempt has the number of one of an earlier life.
  const isOfAnother = current.row.attempt !== attempt;
  must(
    isTrue || (isOfAnother && mayHaveDied(history, id)),
    () => `"${id}" heard of entry ${index} before it was durable`,
  );
}

function attempt(history: History, effect: Effect & { type: "attempt" }): void {
  const { attempt, entries, invocation: { id, createdAt } } = effect;
  const current = history.story(id);
  const story = [...lives(current)].find(({ row }) => row.createdAt === createdAt);
  const [input] = story?.entries ?? [];
  if (!story || (input && !isSame(input, entries[0]))) {
    return must(mayHaveDied(history, id), () => `"${id}" is not durable`);
  }
  must(story.row.attempt >= attempt, () => `"${id}" ran #${attempt} before it was durable`);
  entries.forEach((entry, index) => {
    // The turn that appended it may have forgotten it again.
    const isTrue = index < story.entries.length
      ? isSame(story.entries[index], entry)
      : story.result !== undefined;
    must(isTrue, () => `"${id}" was given a false entry ${index}`);
  });
  if (story === current && story.row.attempt === attempt && !story.result) {
    history.states.eager(effect, story.row);
  }
}

/** Who is killed may come again in the same commit, which then knows of the new one only. */
function mayHaveDied({ wishes }: History, id: string): boolean {
  return wishes.count(id, "kill") > 0;
}
