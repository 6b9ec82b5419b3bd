import type { Effect } from "../../src/engine/effect.ts";
import { type InvocationRow, resultOf } from "../../src/model/invocation.ts";
import { type Entry, entryType, type Result } from "../../src/model/journal.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import type { Completed } from "../../src/ports.ts";
import { Lines } from "./lines.ts";
import { must } from "./must.ts";
import { fromBytes, type Spoken, textOf } from "./spoken.ts";
import type { World } from "./world.ts";

/** Everything that was ever durable about one invocation. */
export interface Story {
  row: InvocationRow;
  readonly entries: Entry[];
  result: Result | undefined;
  isForgotten: boolean;
}

/**
 * What the world was promised, kept outside of the server's reach and never forgotten. It reads
 * every commit, and knows what may never change: a journal's entries, a result, that an
 * invocation was accepted once.
 */
export class History {
  readonly stories = new Map<string, Story>();
  readonly unfinished = new Set<string>();
  /** State as the journaled writes make it, by object and name. */
  readonly state = new Map<string, Map<string, string>>();
  readonly #lines = new Lines();
  /** When an invocation may start at the earliest, as its client said. */
  readonly #delayed = new Map<string, number>();
  /** Invocations of the last commit that another one asked for. */
  #asked: string[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  commit(writes: readonly Write[]): void {
    for (const { table, row, drop } of writes) {
      if (table === "invocation") this.#invocation(row as Rows["invocation"], drop);
      else if (table === "journal" && !drop) this.#journal(row as Rows["journal"]);
      else if (table === "lock") this.#lines.lock(row as Rows["lock"], drop);
      else if (table === "inbox") this.#lines.inbox(row as Rows["inbox"], drop);
    }
    for (const id of this.#asked.splice(0)) this.#wasAsked(id);
  }

  /** A client wants an invocation to start then, and not before. */
  delays(id: string, startAt: number): void {
    this.#delayed.set(id, startAt);
  }

  story(id: string): Story {
    const story = this.stories.get(id);
    must(story, () => `"${id}" was told to the world and is not durable`);
    return story;
  }

  /** Nothing leaves before it is durable (architecture §2, law 2). */
  told(effect: Effect): void {
    if (effect.type === "notify") {
      const { id, index, entry, attempt } = effect;
      const { entries, row, result } = this.story(id);
      must(
        row.attempt >= attempt,
        () => `"${id}" heard of attempt #${attempt} before it was durable`,
      );
      // What came in the turn that ended it all, and took the journal with it, was never stored.
      if (index >= entries.length && result) return;
      must(
        isSame(entries[index], entry),
        () => `"${id}" heard of entry ${index} before it was durable`,
      );
    } else if (effect.type === "abort") {
      must(
        this.story(effect.id).row.attempt >= effect.attempt,
        () => `"${effect.id}" aborted early`,
      );
    } else if (effect.type === "attempt") {
      const { attempt, entries, invocation: { id } } = effect;
      const story = this.story(id);
      must(story.row.attempt >= attempt, () => `"${id}" ran #${attempt} before it was durable`);
      entries.forEach((entry, index) =>
        must(isSame(story.entries[index], entry), () => `"${id}" was given a false entry ${index}`)
      );
      if (story.row.attempt === attempt) this.#eager(effect, story.row);
    }
  }

  accepted(id: string): void {
    this.story(id);
  }

  answered(id: string, { result }: Completed): void {
    const story = this.story(id);
    must(story.result, () => `"${id}" was answered before its result was durable`);
    must(isSame(story.result, result), () => `"${id}" was answered falsely`);
  }

  #invocation(row: InvocationRow, drop: boolean): void {
    const story = this.stories.get(row.id);
    must(!story?.isForgotten, () => `"${row.id}" was forgotten and came back`);
    if (!story) {
      must(!drop, () => `"${row.id}" was dropped before it was accepted`);
      const entries: Entry[] = [];
      this.stories.set(row.id, { row, entries, result: undefined, isForgotten: false });
      this.unfinished.add(row.id);
      if (row.origin.by === "service") this.#asked.push(row.id);
      this.#mustBeDue(row);
      return;
    }
    this.#mustBeDue(row);
    must(
      row.attempt >= story.row.attempt,
      () => `"${row.id}" went back to attempt #${row.attempt}`,
    );
    must(row.createdAt === story.row.createdAt, () => `"${row.id}" was accepted twice`);
    kept(story.row, row, drop);
    story.row = row;
    story.isForgotten = drop;
    if (row.status.kind === "completed") this.#completed(story);
    else {
      must(!story.result, () => `"${row.id}" was completed and is "${row.status.kind}" again`);
      must(!drop, () => `"${row.id}" was forgotten before it was completed`);
    }
  }

  /** By a clock that may have been set back since. */
  #mustBeDue({ id, runningAt }: InvocationRow): void {
    const startAt = this.#delayed.get(id) ?? 0;
    const isDue = runningAt === undefined || this.#world.latest >= startAt;
    must(isDue, () => `"${id}" did not wait to be due`);
  }

  /** Whoever asked for an invocation was told its id, and so asked for it once. */
  #wasAsked(id: string): void {
    const { origin } = this.story(id).row;
    if (origin.by !== "service") return;
    const { row, entries, result } = this.story(origin.id);
    // Its journal went in the turn that stored it.
    if (result && row.journal === 0) return;
    const knows = entries.some((one) =>
      one.kind === "notification" && one.result.kind === "invocationId" && one.result.id === id
    );
    must(knows, () => `"${origin.id}" never asked for "${id}"`);
  }

  #completed(story: Story): void {
    const result = resultOf(story.row), { id } = story.row;
    must(!story.result || isSame(story.result, result), () => `The result of "${id}" changed`);
    story.result = result;
    this.unfinished.delete(id);
  }

  #journal({ id, index, entry, at }: Rows["journal"]): void {
    const story = this.stories.get(id);
    must(story, () => `"${id}" has a journal and was never accepted`);
    const { entries, row } = story;
    if (index < entries.length) {
      return must(isSame(entries[index], entry), () => `Entry ${index} of "${id}" changed`);
    }
    must(index === entries.length, () => `The journal of "${id}" has a gap before ${index}`);
    entries.push(entry);
    if (entry.kind === "command") this.#command(row, entry);
    else if (entry.kind === "notification") {
      notified(story, entry, at);
      if (entry.result.kind === "invocationId") this.#told(story, entry.result.id);
    }
    if (entry.kind === "notification" && row.target.access !== "shared") this.#lazy(story, entry);
  }

  #command({ target: { service, key } }: InvocationRow, { type, bytes }: Command): void {
    if (key === undefined) return;
    const state = this.#object(service, key);
    const said = fromBytes<Spoken>(bytes), name = said.key ?? "";
    if (type === entryType.setState) state.set(name, said.value ?? "");
    else if (type === entryType.clearState) state.delete(name);
    else if (type === entryType.clearAllState) state.clear();
  }

  /** A delayed one-way call fixes when its callee may start. */
  #told({ entries }: Story, callee: string): void {
    const command = entries.at(-2);
    if (command?.kind !== "command" || command.type !== entryType.oneWayCall) return;
    const startAt = Number(fromBytes<Spoken>(command.bytes).x ?? 0);
    if (startAt > 0) this.delays(callee, startAt);
    const row = this.stories.get(callee)?.row;
    if (row) this.#mustBeDue(row);
  }

  /** A lazy read by who holds the object must see every write before it, and none after. */
  #lazy({ row, entries }: Story, entry: Notification): void {
    const { service, key } = row.target, asked = entries.at(-2);
    if (key === undefined || asked?.kind !== "command") return;
    const state = this.#object(service, key);
    if (entry.type === entryType.getLazyStateCompletion) {
      const value = state.get(fromBytes<Spoken>(asked.bytes).key ?? "");
      const seen = entry.result.kind === "value" ? textOf(entry.result.value) : undefined;
      must(seen === value, () => `"${row.id}" read "${seen}", and it was "${value}"`);
    } else if (entry.type === entryType.getLazyStateKeysCompletion) {
      const seen = entry.result.kind === "stateKeys" ? [...entry.result.keys].sort() : [];
      must(isSame(seen, [...state.keys()].sort()), () => `"${row.id}" read the wrong keys`);
    }
  }

  /** The map that goes with an attempt is the state of the moment. */
  #eager({ state }: Effect & { type: "attempt" }, { target, id }: InvocationRow): void {
    if (!state || target.key === undefined || target.access === "shared") return;
    const truth = this.#object(target.service, target.key);
    for (const { name, value } of state.pairs) {
      must(truth.get(name) === textOf(value), () => `"${id}" was given a false "${name}"`);
    }
    must(
      state.partial || state.pairs.length === truth.size,
      () => `"${id}" was given ${state.pairs.length} of ${truth.size} names`,
    );
  }

  #object(service: string, key: string): Map<string, string> {
    const object = objectOf(service, key);
    let state = this.state.get(object);
    if (!state) this.state.set(object, state = new Map());
    return state;
  }
}

type Command = Entry & { kind: "command" };
type Notification = Entry & { kind: "notification" };

/** Results and journals are kept as long as was promised. */
function kept(before: InvocationRow, row: InvocationRow, drop: boolean): void {
  const { id, status, retention, journal, modifiedAt, completedAt } = row;
  if (status.kind !== "completed") return;
  const { resultMs, journalMs } = retention, age = modifiedAt - (completedAt ?? 0);
  must(!drop || age >= resultMs, () => `"${id}" was forgotten too early`);
  const isEarly = journal === 0 && before.journal > 0 && age < Math.min(resultMs, journalMs);
  must(!isEarly, () => `The journal of "${id}" was forgotten too early`);
}

/** No completion comes twice, and no sleep ends early by the clock that the server goes by. */
function notified({ entries, row }: Story, { id, type }: Notification, at: number): void {
  if (id.kind !== "completion") return;
  const same = entries.filter((one) =>
    one.kind === "notification" && one.id.kind === "completion" && one.id.id === id.id
  );
  must(same.length === 1, () => `Completion ${id.id} of "${row.id}" came twice`);
  if (type !== entryType.sleepCompletion) return;
  for (const one of entries) {
    if (one.kind !== "command" || one.type !== entryType.sleep) continue;
    const { completion, x } = fromBytes<Spoken>(one.bytes);
    if (completion === id.id) must(at >= Number(x), () => `A sleep of "${row.id}" ended early`);
  }
}

/** Whether two values look the same. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || shown(a) === shown(b);
}

function shown(value: unknown): string {
  return JSON.stringify(
    value,
    (_, part) => part instanceof Uint8Array ? textOf(part) : part,
  ) ?? "undefined";
}
