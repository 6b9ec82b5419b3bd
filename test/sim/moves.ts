import type { InvocationRow } from "../../src/model/invocation.ts";
import { must } from "./must.ts";
import { cancelsOf, type InvocationRecord, isCancel } from "./invocation_record.ts";
import { arrivalsFrom, settled } from "./tree.ts";

/** A change of a row, as one turn wrote it. */
export interface Move {
  readonly record: InvocationRecord;
  readonly before: InvocationRow;
  readonly row: InvocationRow;
  /** The epoch of the owner that wrote it. */
  readonly epoch: number;
  /** How often an operator resumed it. */
  readonly resumes: number;
}

/**
 * Checks the changes of status of an invocation. Every attempt has a reason: time, a notification that
 * it awaits, the death of the attempt before, or an operation. So no invocation runs in a circle, and no
 * paused one runs at all.
 */
export function mustMay({ record, before, row, epoch, resumes }: Move): void {
  const { id } = row;
  const isDead = record.epoch !== epoch;
  if (row.attempt > before.attempt) record.epoch = epoch;
  if (row.status.kind === "completed") return;
  const isRetried = row.status.kind === "backingOff" && before.status.kind === "invoked" &&
    record.gaveUp?.attempt === before.attempt;
  must(!isRetried, () => `"${id}" tries again, and was to ${record.gaveUp?.behavior}`);
  const wakes = resumes + cancelsOf(record);
  const wanted = (why: string) => {
    record.woken++;
    must(record.woken <= wakes, () => `"${id}" went on by itself: ${why}`);
  };
  mustStay({ before, row, resumes });
  if (before.status.kind === "paused") {
    if (row.status.kind !== "paused") wanted("it was paused");
    else must(row.attempt === before.attempt, () => `"${id}" is paused and has an attempt`);
    const arrived = record.entries.slice(before.journal, row.journal);
    // Who was woken into a queue can be paused once more at once, which is an event.
    const isDeaf = row.status.kind === "paused" && row.events === before.events &&
      arrived.some(isCancel);
    must(!isDeaf, () => `"${id}" is paused, and was canceled`);
    return;
  }
  if (before.pausing) return pausing({ before, row }, wanted);
  const waits = row.status.kind === "queued" && before.status.kind !== "queued";
  if (row.attempt === before.attempt && !waits || isPausedEarly(before, row)) return;
  switch (before.status.kind) {
    case "invoked":
      if (!isDead && !isOver(record, before.attempt)) wanted("nothing had come");
      return;
    case "suspended":
      if (!isOver(record, before.attempt)) wanted("what it waits for had not come");
      return;
    case "backingOff":
      if (row.modifiedAt < before.status.until) wanted("its next attempt was not due");
      return;
    default:
  }
}

/** Whether something was paused while an attempt that has said nothing yet waited for a slot. */
function isPausedEarly(before: InvocationRow, { status, attempt }: InvocationRow): boolean {
  const isNew = before.status.kind === "invoked" && before.heard === 0 &&
    before.attempt === attempt;
  return isNew && status.kind === "queued" && status.by === "paused";
}

/** No invocation changes its protocol version, and its deployment only by an operation. */
function mustStay({ before, row, resumes }: Pick<Move, "before" | "row" | "resumes">): void {
  const { id } = row;
  must(
    before.pin === undefined || before.pin.protocol === row.pin?.protocol,
    () => `"${id}" speaks another version than before`,
  );
  const isAble = row.pin?.deployment !== "dp_2" || row.pin.protocol <= 6;
  must(isAble, () => `"${id}" is where nobody speaks its version`);
  if (before.pin && before.pin.deployment !== row.pin?.deployment) {
    must(resumes > 0, () => `"${id}" moved to another deployment`);
  }
}

/** A requested pause takes effect where the attempt ends. */
function pausing(
  { before, row }: Pick<Move, "before" | "row">,
  wanted: (why: string) => void,
): void {
  if (row.attempt > before.attempt) return wanted("it was about to pause");
  if (row.status.kind === "paused" || row.pausing) return;
  wanted(`it was to pause and is ${row.status.kind}`);
}

/** Whether the wait that an attempt ended with is over, by all that came since. */
function isOver({ sleep, entries }: InvocationRecord, attempt: number): boolean {
  if (sleep?.attempt !== attempt) return false;
  return settled(sleep.awaiting, arrivalsFrom(entries, sleep.delivered)) !== undefined;
}

/** A suspended invocation is woken by every notification that it awaits. */
export function mustSleep(record: InvocationRecord): void {
  const { row: { id, status, attempt }, sleep, entries } = record;
  if (status.kind !== "suspended") return;
  must(sleep?.attempt === attempt, () => `"${id}" sleeps and never said so`);
  const over = settled(sleep.awaiting, arrivalsFrom(entries, sleep.delivered));
  must(!over, () => `"${id}" sleeps through entry ${over?.at}`);
}
