import type { AttemptEnded, Event, FramesReceived, Ingested } from "../engine/event.ts";
import { hasRate } from "../engine/flow/admission.ts";
import type { InvocationRow } from "../model/invocation.ts";
import type { Invoked } from "../model/message.ts";
import { handlerIn, type Schema } from "../model/schema.ts";
import type { PartitionRange } from "../model/ring.ts";
import {
  type Item,
  sourceOf,
  type Table,
  type Timer,
  timerItem,
  type Want,
} from "../model/rows.ts";
import { Unreadable } from "../model/unreadable.ts";
import { objectOf, type Target } from "../model/target.ts";
import type { Resident } from "./resident.ts";

/** What the turn will run on. */
interface TurnContext {
  readonly resident: Resident;
  readonly schema: Schema;
  readonly range: PartitionRange;
}

/**
 * Rows that events will almost certainly read and that are not in memory. Loading them before the
 * turn saves a second run. A row that is overlooked here is a miss of the turn.
 */
export function prefetch(
  queued: readonly { readonly event: Event }[],
  context: TurnContext,
): Want[] {
  const wants = new Wants(context.resident);
  for (const { event } of queued) {
    try {
      prefetchEvent(wants, event, context);
    } catch (cause) {
      // The turn refuses the event.
      if (!(cause instanceof Unreadable)) throw cause;
    }
  }
  return wants.found;
}

function prefetchEvent(wants: Wants, event: Event, context: TurnContext): void {
  if (event.type === "framesReceived") prefetchPromises(wants, event, context.resident);
  else if (event.type === "asked") wants.row("invocation", event.id);
  else if (event.type === "granted") prefetchGranted(wants, event, context);
  else if (event.type === "slotFree") prefetchWaited(wants, event.id);
  else if (event.type === "timerFired") prefetchTimed(wants, event, context);
  else if (event.type === "attemptEnded") prefetchEnded(wants, event);
  else if (event.type === "invoked") prefetchInvoked(wants, event, context);
  else if (event.type === "ingested") prefetchIngested(wants, event, context);
}

/** The row of the source, and what the records need, but for those that were taken before. */
function prefetchIngested(
  wants: Wants,
  { source, records }: Ingested,
  context: TurnContext,
): void {
  const { resident, range: { partition: home } } = context;
  const group = sourceOf({ home, source });
  wants.row("source", group);
  const row = resident.find("source", group, "");
  for (const { offset, request: { id, target, ...request } } of records) {
    if (row && offset < row.next) continue;
    prefetchInvoked(wants, { id, target, fresh: request.fresh && !row?.earlier }, context);
  }
}

function prefetchGranted(
  wants: Wants,
  { id, reserved }: Event & { type: "granted" },
  { schema: { controls } }: TurnContext,
): void {
  prefetchWaited(wants, id);
  for (const counter of reserved) if (hasRate(counter, controls)) wants.row("bucket", counter);
}

/** The rows of an invocation that may have waited for long, to its end. */
function prefetchWaited(wants: Wants, id: string): void {
  wants.row("invocation", id);
  wants.group("journal", id);
  // Its last turn looks for them.
  wants.group("timer", id);
}

/** Who waited for a timer goes on, unless it runs: then its journal is not read. */
function prefetchTimed(wants: Wants, timer: Timer, { resident }: TurnContext): void {
  const row = resident.find("invocation", timer.id, "");
  if (row?.status.kind === "invoked") wants.row("timer", timer.id, timerItem(timer));
  else prefetchWaited(wants, timer.id);
}

/**
 * What completes an invocation. Events of an attempt depend on each other, so each turn that misses rows
 * shows those of one invocation only, and runs again for the next one.
 */
function prefetchEnded(wants: Wants, { id, outcome }: AttemptEnded): void {
  if (outcome.kind !== "ended") return;
  wants.row("invocation", id);
  wants.group("timer", id);
}

function prefetchInvoked(
  wants: Wants,
  { id, fresh, target }: Pick<Invoked, "id" | "fresh" | "target">,
  { resident, schema }: TurnContext,
): void {
  const { access, service, key, scope } = target;
  // An id that callers can compute may be taken.
  if (!fresh) wants.row("invocation", id);
  if (key === undefined) return;
  const object = objectOf(service, key, scope);
  if (access === "exclusive") {
    // Another invocation holds the lock: this one waits in the inbox, and needs no state yet.
    if (resident.find("lock", object, "")) return;
    wants.row("lock", object);
  }
  if (!hasLazyState(schema, target)) wants.group("state", object);
}

/** As `engine/lifecycle/started.ts` decides for an invocation without a pin. */
function hasLazyState(schema: Schema, target: Target): boolean {
  const service = schema.latest(target.service);
  const handler = service && handlerIn(service, target.handler);
  return service && handler ? schema.options(service, handler).lazyState : false;
}

function prefetchPromises(wants: Wants, { id, frames }: FramesReceived, resident: Resident): void {
  for (const frame of frames) {
    const { kind } = frame;
    if (kind !== "getPromise" && kind !== "peekPromise" && kind !== "completePromise") continue;
    const row: InvocationRow | null | undefined = resident.find("invocation", id, "");
    if (row?.target.key === undefined) return;
    const { service, key, scope } = row.target;
    wants.row("promise", objectOf(service, key, scope), frame.key);
  }
}

/** Collects wants of rows that are not in memory, each once. */
class Wants {
  readonly found: Want[] = [];
  readonly #resident: Resident;
  #seen: Set<string> | undefined;

  constructor(resident: Resident) {
    this.#resident = resident;
  }

  row(table: Table, group: string, item: Item = ""): void {
    if (this.#resident.isArriving(table, group)) return;
    if (this.#resident.find(table, group, item) === undefined) this.#add({ table, group, item });
  }

  group(table: Table, group: string): void {
    if (this.#resident.isArriving(table, group)) return;
    if (this.#resident.list(table, group) === undefined) this.#add({ table, group });
  }

  #add(want: Want): void {
    const name = `${want.table}\0${want.item ?? "*"}\0${want.group}`;
    this.#seen ??= new Set();
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    this.found.push(want);
  }
}
