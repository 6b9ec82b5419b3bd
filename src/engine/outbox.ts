import { unreachable } from "../assert.ts";
import { addressee, isShareMessage, type Message } from "../model/message.ts";
import { peerOf, type Rows } from "../model/rows.ts";
import type { Delivered } from "./event.ts";
import { slotsCounted, slotsReturned, slotsWanted } from "./flow/bank.ts";
import { slotsGiven, slotsRecalled } from "./flow/share.ts";
import { completeCommand } from "./journal/notification.ts";
import { asked } from "./lifecycle/asked.ts";
import { invoked } from "./lifecycle/invoked.ts";
import { killed } from "./lifecycle/killed.ts";
import { signaled } from "./lifecycle/signaled.ts";
import type { Turn } from "./turn.ts";

/**
 * Delivers a message to an invocation: every message between invocations goes through here. A message
 * for this partition is applied in the same turn. One for another partition becomes a row in the commit
 * of this turn, and is sent until that partition acknowledges it (decision 031).
 */
export function deliver(turn: Turn, message: Message): void {
  const { partition, partitions } = turn.range;
  const to = partitions === 1
    ? partition
    : isShareMessage(message)
    ? message.to
    : turn.partitionOf(addressee(message));
  if (to === partition) apply(turn, message);
  else post(turn, to, message);
}

/** Applies messages of another partition, in order. Duplicates are dropped by their number. */
export function delivered(turn: Turn, { from, first, messages, reply }: Delivered): void {
  const peer = peerTo(turn, from);
  const known = peer.heard - first + 1;
  // On a gap none is applied: the sender sends the missing ones again, and these after them.
  const fresh = known < 0 ? NOTHING : messages.slice(known);
  const heard = peer.heard + fresh.length;
  // Written before the messages are applied, since those may change the same row by messages of their
  // own. On a gap the row is written, too: the fence then rejects us if we lost the lease.
  if (known < messages.length) turn.put("peer", { ...peer, heard });
  for (const message of fresh) apply(turn, message);
  turn.emit({ type: "reply", reply, id: "", status: "done", heard });
}

/** Drops messages that the other partition has made durable. */
export function acknowledged(
  turn: Turn,
  { to, first, last }: { readonly to: number; readonly first: number; readonly last: number },
): void {
  const from = turn.range.partition;
  for (let seq = first; seq <= last; seq++) {
    turn.drop("outbox", { from, to, seq, message: GONE });
  }
}

const NOTHING: readonly Message[] = [];
/** Stands for the message of a dropped row, which is identified by its key. */
const GONE: Message = { type: "killed", id: "" };

function post(turn: Turn, to: number, message: Message): void {
  const peer = peerTo(turn, to);
  const seq = peer.sent + 1;
  turn.put("peer", { ...peer, sent: seq });
  turn.put("outbox", { from: peer.from, to, seq, message });
  turn.emit({ type: "forward", to, seq, message });
}

function peerTo(turn: Turn, to: number): Rows["peer"] {
  const from = turn.range.partition;
  return turn.find("peer", peerOf({ from, to })) ?? { from, to, sent: 0, heard: 0 };
}

function apply(turn: Turn, message: Message): void {
  switch (message.type) {
    case "invoked":
      return invoked(turn, message);
    case "asked":
      return asked(turn, message);
    case "signaled":
      return signaled(turn, message);
    case "answered":
      return completeCommand(turn, message.caller, message.result);
    case "killed":
      return void killed(turn, message.id);
    case "slotsWanted":
      return slotsWanted(turn, message);
    case "slotsGiven":
      return slotsGiven(turn, message);
    case "slotsReturned":
      return slotsReturned(turn, message);
    case "slotsCounted":
      return slotsCounted(turn, message);
    case "slotsRecalled":
      return slotsRecalled(turn, message);
    default:
      unreachable(message);
  }
}
