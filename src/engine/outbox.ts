import { unreachable } from "../assert.ts";
import { addressee, type Message } from "../model/message.ts";
import { peerOf, type Rows } from "../model/rows.ts";
import type { Delivered } from "./event.ts";
import { completeCommand } from "./journal/notification.ts";
import { asked } from "./lifecycle/asked.ts";
import { invoked } from "./lifecycle/invoked.ts";
import { killed } from "./lifecycle/killed.ts";
import { signaled } from "./lifecycle/signaled.ts";
import type { Turn } from "./turn.ts";

/**
 * The one door through which invocations speak to each other. A message for one of this partition is
 * applied in the same turn. One for another partition becomes a row in this turn's commit, and is
 * sent, again and again, until that partition has it (decision 031).
 */
export function deliver(turn: Turn, message: Message): void {
  const { partition, partitions } = turn.range;
  const to = partitions === 1 ? partition : turn.partitionOf(addressee(message));
  if (to === partition) apply(turn, message);
  else post(turn, to, message);
}

/** Messages of another partition: each is applied once, in its order, however often it comes. */
export function delivered(turn: Turn, { from, first, messages, reply }: Delivered): void {
  const peer = peerTo(turn, from);
  const known = peer.heard - first + 1;
  // Some before them are missing: they come again, with these behind them.
  const news = known < 0 ? NOTHING : messages.slice(known);
  const heard = peer.heard + news.length;
  // Before they are applied: what they bring about may write to that partition, in the same row. Who
  // lacks some may be an owner of the past, and would say so for ever: a write has the store judge.
  if (known < messages.length) turn.put("peer", { ...peer, heard });
  for (const message of news) apply(turn, message);
  turn.emit({ type: "reply", reply, id: "", status: "done", heard });
}

/** The other partition has them: they need not be kept. */
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
/** Of a row that is dropped, only the name matters. */
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
    default:
      unreachable(message);
  }
}
