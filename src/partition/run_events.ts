import type { Event } from "../engine/event.ts";
import type { SlotView } from "../engine/flow/slots.ts";
import type { InboxView } from "../engine/inbox_room.ts";
import { step } from "../engine/step.ts";
import { miss, Turn } from "../engine/turn.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Want } from "../model/rows.ts";
import type { Schema } from "../model/schema.ts";
import { Unreadable } from "../model/unreadable.ts";
import type { QueuedEvent } from "./queued_event.ts";
import type { Resident } from "./resident.ts";

/** What a turn runs on. `attemptForgotten`: see `Turn`. */
export interface TurnContext {
  readonly resident: Resident;
  readonly schema: Schema;
  readonly range: PartitionRange;
  readonly attemptForgotten: number;
  /** See `TurnOptions`. */
  readonly slots: SlotView;
  readonly nextSeq: number;
  readonly inboxes: InboxView;
}

/** An event that no turn can take, because a row that it needs cannot be decoded. */
export interface Refused {
  readonly one: QueuedEvent;
  readonly cause: Unreadable;
}

/** A turn. It is complete unless rows are missing or an event is refused. */
export interface TurnRun {
  readonly turn: Turn;
  /** Rows that are not in memory. */
  readonly wants: readonly Want[];
  /** Events that need rows of a group of which more pages arrive. */
  readonly late: readonly QueuedEvent[];
  readonly refused?: Refused;
}

/**
 * Runs the engine over events at time `now`, in milliseconds since the epoch. It changes nothing but
 * the turn. Throws what an assertion of the engine throws.
 */
export function runEvents(
  queued: readonly QueuedEvent[],
  now: number,
  context: TurnContext,
): TurnRun {
  const { resident, schema } = context;
  const options = { ...context, rows: resident };
  const turn = new Turn(now, schema, options);
  const wants: Want[] = [];
  const late: QueuedEvent[] = [];
  for (const one of queued) {
    // After a miss this turn is lost. Later events only show which other rows to load, so each runs on
    // rows without the writes of this turn: half of the writes of another event must not confuse it.
    const isLost = wants.length > 0 || late.length > 0;
    const page = isLost ? new Turn(now, schema, options) : turn;
    const cause = applied(page, one.event, { isBare: isLost });
    if (cause instanceof Unreadable) return { turn, wants, late, refused: { one, cause } };
    if (cause !== miss) continue;
    const isLate = page.wants.some(({ table, group }) => resident.isArriving(table, group));
    if (isLate) late.push(one);
    else wants.push(...page.wants);
  }
  return { turn, wants: wants.length > 1 ? distinct(wants) : wants, late };
}

/** Many events of a turn ask for the same rows: the lock of a busy object, for one. */
function distinct(wants: readonly Want[]): Want[] {
  const seen = new Map<string, Want>();
  for (const want of wants) seen.set(`${want.table}\0${want.item ?? "*"}\0${want.group}`, want);
  return [...seen.values()];
}

/**
 * Applies an event. Returns `miss` when a row it asked for was not in memory, and `Unreadable` when it
 * cannot be decoded. On bare rows an event may lack the writes of those before it, and break an
 * assertion: frames 2 … of an attempt whose frames 0 and 1 were lost with the turn. That is no bug;
 * a real bug shows when the turn runs again.
 */
function applied(
  turn: Turn,
  event: Event,
  { isBare }: { isBare: boolean },
): typeof miss | Unreadable | undefined {
  try {
    step(turn, event);
    return undefined;
  } catch (cause) {
    if (cause instanceof Unreadable) return cause;
    if (cause !== miss && !isBare) throw cause;
    return miss;
  }
}
