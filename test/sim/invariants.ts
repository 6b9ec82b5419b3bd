import { EVENTS_MAX } from "../../src/engine/failure_history.ts";
import type { Caller, InvocationRow } from "../../src/model/invocation.ts";
import { entryType } from "../../src/model/journal.ts";
import { timerItem } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import type { Disks } from "./disks.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { attemptsMax } from "./schema.ts";
import { spokenOf, textOf } from "./spoken.ts";
import type { InvocationRecord } from "./invocation_record.ts";
import { leavesOf } from "./tree.ts";

const HOLDING = ["queued", "invoked", "backingOff", "suspended", "paused"];

/** Everything that must hold of the durable rows, whenever one looks. */
export function check(disk: Disks, history: History): void {
  const objects = new Map<string, Keyed>(), waiting = waitingOn(disk, history);
  for (const row of disk.all("invocation")) {
    journal(disk, row);
    events(disk, row);
    status(disk, row);
    const record = history.record(row.id);
    if (row.status.kind === "completed") {
      must(row.callers.length === 0, () => `"${row.id}" is completed and has callers`);
      must(!row.pausing, () => `"${row.id}" is completed and should pause`);
    } else promises(disk, record, waiting);
    keyed(objects, row);
  }
  for (const timer of disk.all("timer")) {
    const row = disk.find("invocation", timer.id);
    must(row && row.status.kind !== "completed", () => `A timer of "${timer.id}" was left behind`);
    if (timer.kind === "start") {
      must(row.status.kind === "scheduled", () => `"${row.id}" starts twice`);
    }
    if (timer.kind === "retry") must(row.status.kind === "backingOff", () => `"${row.id}" retries`);
  }
  for (const id of disk.groups("journal")) {
    must(disk.find("invocation", id), () => `The journal of "${id}" was left behind`);
  }
  for (const id of disk.groups("event")) {
    must(disk.find("invocation", id), () => `The events of "${id}" were left behind`);
  }
  locks(disk, objects);
  state(disk, history);
}

/** Exclusive invocations of one object. */
interface Keyed {
  readonly holders: string[];
  readonly waiting: Map<number, string>;
}

function keyed(objects: Map<string, Keyed>, { id, target, status }: InvocationRow): void {
  const { access, service, key, scope } = target;
  if (access !== "exclusive" || key === undefined) return;
  const object = objectOf(service, key, scope);
  let one = objects.get(object);
  if (!one) objects.set(object, one = { holders: [], waiting: new Map() });
  if (HOLDING.includes(status.kind)) one.holders.push(id);
  if (status.kind !== "inboxed") return;
  must(
    !one.waiting.has(status.seq),
    () => `Two invocations have place ${status.seq} of "${object}"`,
  );
  one.waiting.set(status.seq, id);
}

/** One holder per lock; lock, inbox and statuses agree; those who wait stand between the marks. */
function locks(disk: Disks, objects: Map<string, Keyed>): void {
  const known = new Set<string>();
  for (const { object, holder, head, tail } of disk.all("lock")) {
    known.add(object);
    const { holders, waiting } = objects.get(object) ?? { holders: [], waiting: new Map() };
    must(
      holders.length === 1 && holders[0] === holder,
      () => `"${object}" is held by "${holder}", and run by "${holders.join()}"`,
    );
    const inbox = disk.group("inbox", object);
    must(
      inbox.length === waiting.size && inbox.every(({ seq, id }) => waiting.get(seq) === id),
      () => `The inbox of "${object}" and those who wait there disagree`,
    );
    // Who was canceled or killed while it waited leaves an empty place.
    must(
      inbox.every(({ seq }) => seq >= head && seq < tail),
      () => `The inbox of "${object}" does not lie between ${head} and ${tail}`,
    );
  }
  for (const [object, { holders, waiting }] of objects) {
    if (known.has(object)) continue;
    must(
      holders.length + waiting.size === 0,
      () => `"${object}" is run by "${holders.join()}" unheld`,
    );
  }
  for (const { object, id } of disk.all("inbox")) {
    must(known.has(object), () => `"${id}" waits for "${object}", which nobody holds`);
  }
}

function journal(disk: Disks, row: InvocationRow): void {
  const rows = disk.group("journal", row.id);
  must(
    rows.length === row.journal && rows.every(({ index }, i) => index === i),
    () => `The journal of "${row.id}" has ${rows.length} entries, and says ${row.journal}`,
  );
  const commands = rows.filter(({ entry }) => entry.kind !== "notification").length;
  must(
    commands === row.commands,
    () => `"${row.id}" has ${commands} commands, says ${row.commands}`,
  );
}

/** The last events are kept, and the very last one says why an invocation does not run. */
function events(disk: Disks, { id, events = 0, status, lastFailure }: InvocationRow): void {
  const rows = disk.group("event", id), first = Math.max(0, events - EVENTS_MAX);
  must(
    rows.length === events - first && rows.every(({ seq }, i) => seq === first + i),
    () => `"${id}" has ${rows.length} events, and says ${events}`,
  );
  const last = rows.at(-1);
  if (status.kind === "paused") {
    must(last?.kind === "paused", () => `The pause of "${id}" is no event`);
  }
  if (status.kind !== "backingOff") return;
  must(
    last?.kind === "transientError" && last.failure?.message === lastFailure?.message,
    () => `The failure of "${id}" is no event`,
  );
}

/** Who waits for a moment has a timer for it. */
function status(disk: Disks, { id, status, target, failures }: InvocationRow): void {
  const has = (due: number, kind: "start" | "retry") =>
    disk.find("timer", id, timerItem({ due, kind, index: 0 })) !== undefined;
  if (status.kind === "scheduled") must(has(status.at, "start"), () => `"${id}" never starts`);
  if (status.kind !== "backingOff") return;
  must(has(status.until, "retry"), () => `"${id}" never retries`);
  must(failures < attemptsMax(target), () => `"${id}" retries after ${failures} failures`);
}

/**
 * Every sleep has a timer or its completion, every call and every attach somebody who knows of it,
 * every promise a listener; so whoever is suspended on them is woken.
 */
function promises(disk: Disks, { row, entries, spoken }: InvocationRecord, waiting: Waiting): void {
  const { id, status } = row;
  const done = new Set<number>();
  const coming = new Set<number>();
  for (const entry of entries) {
    if (entry.kind === "notification" && entry.id.kind === "completion") done.add(entry.id.id);
  }
  for (const entry of entries) {
    if (entry.kind !== "command") continue;
    const { completion } = spokenOf(entry.bytes);
    if (completion === undefined || done.has(completion) || !spoken.has(completion)) continue;
    if (entry.type === entryType.sleep) {
      const timer = disk.group("timer", id).some(({ kind, index }) =>
        kind === "sleep" && index === completion
      );
      must(timer, () => `Sleep ${completion} of "${id}" has no timer`);
      coming.add(completion);
    } else if (WAITING.includes(entry.type)) {
      const name = `${id}/${completion}/${entry.type}`;
      must(waiting.has(name), () => `Nobody will answer command ${completion} of "${id}"`);
      coming.add(completion);
    }
  }
  for (const { kind, index } of disk.group("timer", id)) {
    if (kind === "sleep") must(!done.has(index), () => `Sleep ${index} of "${id}" would end twice`);
  }
  if (status.kind !== "suspended") return;
  for (const key of leavesOf(status.awaiting)) {
    const isComing = key[0] !== "c" || coming.has(Number(key.slice(1)));
    must(isComing, () => `"${id}" sleeps through ${key}`);
  }
}

/** Commands that wait for another invocation, by invocation, completion and type. */
type Waiting = ReadonlySet<string>;

const WAITING: readonly number[] = [
  entryType.call,
  entryType.attach,
  entryType.getOutput,
  entryType.getPromise,
];

function waitingOn(disk: Disks, { deliveries }: History): Waiting {
  const waiting = new Set<string>();
  const add = ({ id, completion, type, since }: Caller) => {
    // The caller is forgotten, and another invocation has its id.
    if (disk.find("invocation", id)?.createdAt !== since) return;
    const name = `${id}/${completion}/${0x400 | type & 0xff}`;
    must(!waiting.has(name), () => `Command ${completion} of "${id}" waits twice`);
    waiting.add(name);
  };
  for (const { status, callers } of disk.all("invocation")) {
    if (status.kind !== "completed") callers.forEach(add);
  }
  for (const { result, listeners, name } of disk.all("promise")) {
    must(!result || listeners.length === 0, () => `"${name}" is kept and has listeners`);
    listeners.forEach(add);
  }
  for (const message of deliveries.underWay()) {
    if ("caller" in message && message.caller) add(message.caller);
  }
  return waiting;
}

/** State is what the journaled writes make of it, in the order of commits. */
function state(disk: Disks, history: History): void {
  history.states.adopt(disk.all("state"));
  const seen = new Map<string, number>();
  for (const { object, name, value } of disk.all("state")) {
    const truth = history.states.objects.get(object)?.get(name);
    must(truth === textOf(value), () => `"${object}" has ${name}=${textOf(value)}, not ${truth}`);
    seen.set(object, (seen.get(object) ?? 0) + 1);
  }
  for (const [object, names] of history.states.objects) {
    must((seen.get(object) ?? 0) === names.size, () => `"${object}" has lost state`);
  }
}
