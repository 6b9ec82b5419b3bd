import type { Effect } from "../../src/engine/effect.ts";
import { type InvocationRow, resultOf } from "../../src/model/invocation.ts";
import { type Entry, entryType, type Result } from "../../src/model/journal.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import type { Completed } from "../../src/ports.ts";
import { Deliveries } from "./deliveries.ts";
import { Lines } from "./lines.ts";
import { Messages, said } from "./messages.ts";
import { mustMay, mustSleep } from "./moves.ts";
import { must } from "./must.ts";
import { NOBODY } from "./names.ts";
import { States } from "./states.ts";
import {
  isAnew,
  isPutToEnd,
  isSame,
  lives,
  mustHaveSaid,
  type Sleep,
  type Story,
} from "./story.ts";
import { mustBeDurable } from "./told.ts";
import { inOrder } from "./batch.ts";
import { mustBegin, mustBeKept, Wishes } from "./wishes.ts";
import type { World } from "./world.ts";

/** Wishes that end an invocation. */
const ENDS = ["kill", "cancel"] as const;

/**
 * The model of a run, independent of the server. It reads every commit, and checks the facts that may
 * never change: entries of a journal, a result, that an invocation was accepted once.
 */
export class History {
  readonly stories = new Map<string, Story>();
  readonly unfinished = new Set<string>();
  readonly states = new States();
  readonly wishes = new Wishes(this);
  readonly deliveries: Deliveries;
  /** The ids of those who have a name in programs. */
  readonly names = new Map<string, string>();
  /** Commits so far. */
  commits = 0;
  #epoch = 0;
  readonly #messages = new Messages(this);
  readonly #lines = new Lines();
  /** When an invocation may start at the earliest, as its client said. */
  readonly #delayed = new Map<string, number>();
  readonly #world: World;

  constructor(world: World, partitions: number) {
    this.#world = world;
    this.deliveries = new Deliveries(partitions);
  }

  commit(
    writes: readonly Write[],
    { epoch, partition }: { readonly epoch: number; readonly partition: number },
  ): void {
    this.commits++;
    this.#epoch = epoch;
    this.deliveries.commit(writes, partition);
    this.#messages.exchanged();
    for (const { table, row, drop } of inOrder(writes)) {
      if (table === "invocation") this.#invocation(row as Rows["invocation"], drop);
      else if (table === "journal" && !drop) this.#journal(row as Rows["journal"]);
      else if (table === "lock") this.#lines.lock(row as Rows["lock"], drop);
      else if (table === "inbox") this.#lines.inbox(row as Rows["inbox"], drop);
      else if (table === "promise") this.#messages.promise(row as Rows["promise"], drop);
    }
    this.#lines.settle();
    this.#messages.settle();
    for (const id of this.unfinished) mustSleep(this.story(id));
  }

  /** Whom a program means. */
  idOf(name: string): string {
    return this.names.get(name) ?? NOBODY;
  }

  /** A client wants an invocation to start then, and not before. */
  delays(id: string, startAt: number): void {
    this.#delayed.set(id, startAt);
  }

  /** An attempt says that it goes to sleep, and what may wake it. */
  suspends(id: string, sleep: Sleep): void {
    const story = this.story(id);
    // Of a process that died long ago, and knows nothing of it.
    if (sleep.attempt === story.row.attempt) story.sleep = sleep;
  }

  /** An attempt fails and says what shall become of its invocation. */
  gaveUp(id: string, attempt: number, behavior: "pause" | "fail"): void {
    const story = this.story(id);
    if (attempt === story.row.attempt) story.gaveUp = { attempt, behavior };
  }

  story(id: string): Story {
    const story = this.stories.get(id);
    must(story, () => `"${id}" was told to the world and is not durable`);
    return story;
  }

  /** Tells later whether an invocation still goes on, and no other one has its id. */
  isCurrent(id: string): () => boolean {
    const story = this.stories.get(id);
    return () => this.stories.get(id) === story && story?.result === undefined;
  }

  /** Nothing leaves before it is durable (law 2). */
  told(effect: Effect): void {
    mustBeDurable(this, effect);
  }

  accepted(id: string): void {
    this.story(id);
  }

  answered(id: string, { result }: Pick<Completed, "result">): void {
    this.story(id);
    must(this.hadResult(id, result), () => `"${id}" was answered falsely, or too early`);
  }

  /** Whether this was the result of some life of an invocation. */
  hadResult(id: string, result: Result): boolean {
    for (const story of lives(this.stories.get(id))) {
      if (story.result && isSame(story.result, result)) return true;
    }
    // Of a life that began and ended within one turn no row was ever written.
    return isPutToEnd(result) && ENDS.some((wish) => this.wishes.count(id, wish) > 0);
  }

  /** Whether a completed invocation has been kept for as long as it was to be. */
  isPast({ row: { completedAt = Infinity, retention } }: Story): boolean {
    return this.#world.latest >= completedAt + retention.resultMs;
  }

  #invocation(row: InvocationRow, drop: boolean): void {
    const known = this.stories.get(row.id);
    if (!known || isAnew(known, row)) this.#begin(row, drop, known);
    const story = this.story(row.id), before = story.row;
    this.#mustBeDue(row);
    if (before !== row) {
      must(row.attempt >= before.attempt, () => `"${row.id}" went back to #${row.attempt}`);
      mustBeKept(this.wishes, story, { row, drop });
      this.#mayMove(story, row);
    }
    story.row = row;
    story.isForgotten = drop;
    if (row.status.kind === "completed") this.#completed(story);
    else {
      must(!story.result, () => `"${row.id}" was completed and is "${row.status.kind}" again`);
      must(!drop, () => `"${row.id}" was forgotten before it was completed`);
    }
    if (drop) this.#forgotten(row);
  }

  /** An id that nobody had, or whose last owner is forgotten. */
  #begin(row: InvocationRow, drop: boolean, known: Story | undefined): void {
    const { id, origin } = row;
    must(!drop || row.status.kind === "completed", () => `"${id}" was dropped unaccepted`);
    const isReused = row.idempotencyKey !== undefined || row.target.access === "run";
    must(!known || isReused, () => `"${id}" was forgotten and came back`);
    if (known && !known.isForgotten) {
      const { row: old, result } = known;
      const { wishes } = this, isPutToEnd = ENDS.some((wish) => wishes.count(id, wish) > 0);
      const isPurged = wishes.count(id, "purge") > 0 || this.isPast(known);
      must(result ? isPurged : isPutToEnd, () => `"${id}" was accepted twice`);
      known.isForgotten = true;
      if (old.runningAt !== undefined) this.#forgotten(old);
    }
    const restart = this.wishes.restarts.get(id);
    const copied = origin.by === "restart" ? row.journal : 0;
    const story: Story = {
      row,
      entries: [],
      result: undefined,
      isForgotten: false,
      since: this.commits,
      until: Infinity,
      copied,
      spoken: new Map(),
      signals: new Set(),
      epoch: this.#epoch,
      sleep: undefined,
      gaveUp: undefined,
      woken: 0,
      before: known,
    };
    this.stories.set(id, story);
    this.unfinished.add(id);
    if (origin.by === "service") this.#messages.later(() => this.#wasAsked(story));
    if (origin.by !== "restart") return;
    must(restart, () => `Nobody wanted "${id}"`);
    this.#messages.later(() => mustBegin(story, restart));
  }

  #mayMove(story: Story, row: InvocationRow): void {
    const before = story.row, epoch = this.#epoch;
    this.#messages.later(() => {
      const resumes = this.wishes.count(row.id, "resume");
      mustMay({ story, before, row, epoch, resumes });
    });
  }

  /** With the run of a workflow go its state and its promises. */
  #forgotten({ target: { access, service, key = "" }, runningAt }: InvocationRow): void {
    if (access !== "run" || runningAt === undefined) return;
    this.states.forget(objectOf(service, key));
    this.#messages.forgotten(objectOf(service, key));
  }

  /** By a clock that may have been set back since. */
  #mustBeDue({ id, runningAt }: InvocationRow): void {
    const startAt = this.#delayed.get(id) ?? 0;
    const isDue = runningAt === undefined || this.#world.latest >= startAt;
    must(isDue, () => `"${id}" did not wait to be due`);
  }

  /** Whoever asked for an invocation was told its id, and so asked for it once. */
  #wasAsked({ row: { id, origin } }: Story): void {
    if (origin.by !== "service") return;
    const knows = [...lives(this.story(origin.id))].some(({ row, entries, result }) =>
      // Its journal went in the turn that stored it.
      (result && row.journal === 0) || entries.some((one) =>
        one.kind === "notification" && one.result.kind === "invocationId" && one.result.id === id
      )
    );
    must(knows, () => `"${origin.id}" never asked for "${id}"`);
  }

  #completed(story: Story): void {
    const result = resultOf(story.row), { id } = story.row;
    must(!story.result || isSame(story.result, result), () => `The result of "${id}" changed`);
    this.unfinished.delete(id);
    if (story.result) return;
    story.result = result;
    story.until = this.commits;
    const { row: { journal, target: { service, key = "" }, runningAt }, entries } = story;
    // What it wrote in its last turn went with its journal in the same turn.
    const isHidden = runningAt !== undefined && journal < entries.length || story.isForgotten;
    if (result.kind === "value") this.#messages.later(() => mustHaveSaid(story));
    if (isHidden || journal === 0) this.states.unknown.add(objectOf(service, key));
    if (result.kind !== "failure" || !isPutToEnd(result)) return;
    if (result.failure.message === "killed") this.#messages.killed(story);
    else must(story.row.runningAt === undefined, () => `"${id}" was canceled after its start`);
  }

  #journal({ id, index, entry, at }: Rows["journal"]): void {
    const story = this.stories.get(id);
    must(story, () => `"${id}" has a journal and was never accepted`);
    const { entries, row } = story;
    if (index < entries.length) {
      return must(isSame(entries[index], entry), () => `Entry ${index} of "${id}" changed`);
    }
    must(index === entries.length, () => `The journal of "${id}" has a gap before ${index}`);
    must(!story.result || story.until === this.commits, () => `"${id}" is over and goes on`);
    entries.push(entry);
    if (entry.kind === "command") this.#command(story, entry, index);
    else if (entry.kind === "notification") this.#notification(story, entry, { index, at });
    if (entry.kind !== "notification" || index < story.copied) return;
    if (row.target.access !== "shared") this.states.lazy(story, entry);
  }

  #command(story: Story, entry: Entry & { kind: "command" }, index: number): void {
    const spoken = said(entry), { completion, invocationId } = spoken;
    if (completion !== undefined) story.spoken.set(completion, spoken);
    if (invocationId !== undefined) story.spoken.set(invocationId, spoken);
    if (index < story.copied) return;
    this.states.command(story, entry.type, spoken);
    this.#messages.command(story, entry.type, spoken);
  }

  #notification(
    story: Story,
    entry: Entry & { kind: "notification" },
    { index, at }: { index: number; at: number },
  ): void {
    const { id, type, result } = entry;
    if (index < story.copied) return;
    this.#messages.notification(story, entry);
    if (id.kind !== "completion") return;
    const same = story.entries.filter((one) => one.kind === "notification" && isSame(one.id, id));
    must(same.length === 1, () => `Completion ${id.id} of "${story.row.id}" came twice`);
    const spoken = story.spoken.get(id.id);
    if (result.kind === "invocationId") this.#callee(result.id, Number(spoken?.x ?? 0));
    if (type !== entryType.sleepCompletion) return;
    must(at >= Number(spoken?.x), () => `A sleep of "${story.row.id}" ended early`);
  }

  /** A delayed one-way call fixes when its callee may start. */
  #callee(callee: string, startAt: number): void {
    if (startAt > 0) this.delays(callee, startAt);
    const row = this.stories.get(callee)?.row;
    if (row) this.#mustBeDue(row);
  }
}
