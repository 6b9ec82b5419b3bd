import type { Effect } from "../../src/engine/effect.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { type InvocationRecord, isSame, lives } from "./invocation_record.ts";

/** Every effect was durable before it was carried out. Throws `Broken`. */
export function mustBeDurable(history: History, effect: Effect): void {
  if (effect.type === "notify") notification(history, effect);
  else if (effect.type === "attempt") attempt(history, effect);
  else if (effect.type === "abort" || effect.type === "yield") {
    const { id, attempt } = effect;
    const isKnown = [...lives(history.record(id))].some(({ row }) => row.attempt >= attempt);
    must(isKnown, () => `"${id}" heard of attempt #${attempt} before it was durable`);
  }
}

function notification(
  history: History,
  { id, index, entry, attempt }: Effect & { type: "notify" },
): void {
  const isRight = ({ row, entries, result }: InvocationRecord) =>
    row.attempt >= attempt &&
    // What came in the turn that ended it all, and took the journal with it, was never stored.
    (index >= entries.length ? result !== undefined : isSame(entries[index], entry));
  const current = history.record(id);
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
  const current = history.record(id);
  const record = [...lives(current)].find(({ row }) => row.createdAt === createdAt);
  const [input] = record?.entries ?? [];
  if (!record || (input && !isSame(input, entries[0]))) {
    return must(mayHaveDied(history, id), () => `"${id}" is not durable`);
  }
  must(record.row.attempt >= attempt, () => `"${id}" ran #${attempt} before it was durable`);
  entries.forEach((entry, index) => {
    // The turn that appended it may have forgotten it again.
    const isTrue = index < record.entries.length
      ? isSame(record.entries[index], entry)
      : record.result !== undefined;
    must(isTrue, () => `"${id}" was given a false entry ${index}`);
  });
  if (record === current && record.row.attempt === attempt && !record.result) {
    history.states.eager(effect, record.row);
  }
}

/** A killed id may be used again in the same commit, which then has the new invocation only. */
function mayHaveDied({ operations }: History, id: string): boolean {
  return operations.count(id, "kill") > 0;
}
