import { completionIdsOf } from "../../model/completion_ids.ts";
import type { InvocationRow, Pin, Retention } from "../../model/invocation.ts";
import { type Entry, entryType } from "../../model/journal.ts";
import { negotiate } from "../../model/protocol.ts";
import { retentionOf } from "../../model/schema.ts";
import type { ReplyStatus } from "../effect.ts";
import type { Operation } from "../event.ts";
import type { Turn } from "../turn.ts";
import { admit, newRow } from "./invoked.ts";
import { unexpired } from "./unexpired.ts";
import { choosePin } from "./resumed.ts";
import { handlerOf } from "./started.ts";

type Restart = Operation & { kind: "restart" };

/** Before this version the SDK seeds randomness with the id, so a copied journal would not replay. */
const PREFIX_PROTOCOL_MIN = 6;

/**
 * Runs the handler of a completed invocation again, under a new id: with its input, and optionally
 * with the beginning of its journal (docs/spec/service-protocol.md#restart).
 */
export function restarted(turn: Turn, id: string, operation: Restart): ReplyStatus {
  const row = unexpired(turn, id);
  if (!row) return "unknown";
  const refused = refusal(row);
  if (refused) return refused;
  const { from, newId } = operation;
  // Checked before the entries of the prefix are: it has none that can be copied (seen at the reference).
  if (from > 0 && !isPrefixKept(row)) return "noRestart";
  const entries = prefix(turn.list("journal", id).map(({ entry }) => entry), from);
  if (!entries) return "openPrefix";
  const pin = pinOf(turn, row, operation);
  if (typeof pin === "string") return pin;
  const draft = newRow(turn, {
    id: newId,
    target: row.target,
    origin: { by: "restart", id },
    retention: retention(turn, row),
    trace: row.trace,
    ...(row.limitKey === undefined ? {} : { limitKey: row.limitKey }),
    ...(row.priority === undefined ? {} : { priority: row.priority }),
  });
  draft.pin = pin;
  draft.journal = entries.length;
  draft.commands = entries.filter(({ kind }) => kind !== "notification").length;
  if (from > 0) draft.seedOf = row.seedOf ?? id;
  if (entries.some((entry) => entry.kind === "command" && entry.type === entryType.output)) {
    draft.answer = row.status.kind === "completed" && row.status.failure
      ? { failure: row.status.failure }
      : {};
    draft.output = row.output;
  }
  admit(turn, draft, { entries });
  return "done";
}

function refusal(
  { status, target, journal, runningAt }: InvocationRow,
): ReplyStatus | undefined {
  switch (status.kind) {
    case "completed":
      if (target.type === "workflow") return "noRestart";
      return journal === 0 ? "noInput" : undefined;
    case "scheduled":
    case "inboxed":
      return "notStarted";
    case "queued":
      return runningAt === undefined ? "notStarted" : "stillRunning";
    default:
      return "stillRunning";
  }
}

/**
 * Entries up to `from`, and the completions of their commands. Undefined: a command has no completion,
 * or the journal is shorter.
 */
function prefix(journal: readonly Entry[], from: number): Entry[] | undefined {
  if (from >= journal.length) return undefined;
  const entries = journal.slice(0, from + 1);
  const open = new Set<number>();
  for (const entry of entries) {
    if (entry.kind === "command") { for (const id of completionIdsOf(entry.bytes)) open.add(id); }
  }
  for (const [index, entry] of journal.entries()) {
    if (entry.kind !== "notification" || entry.id.kind !== "completion") continue;
    if (open.delete(entry.id.id) && index > from) entries.push(entry);
  }
  return open.size === 0 ? entries : undefined;
}

function isPrefixKept({ pin }: InvocationRow): boolean {
  return pin !== undefined && pin.protocol >= PREFIX_PROTOCOL_MIN;
}

/** The pin of the new invocation. A whole new run has one only if the operator chose a deployment. */
function pinOf(
  turn: Turn,
  row: InvocationRow,
  { from, deployment }: Restart,
): Pin | ReplyStatus | undefined {
  const { pin } = row;
  const choice = deployment ?? { kind: "latest" };
  if (!pin) return choice.kind === "deployment" ? newPin(turn, row, choice.id) : undefined;
  if (from === 0 && choice.kind === "latest") return undefined;
  return choosePin(turn.schema, row, { choice, pin });
}

/** The pin of an invocation that failed before it had one: the protocol version is negotiated. */
function newPin({ schema }: Turn, { target }: InvocationRow, id: string): Pin | ReplyStatus {
  const deployment = schema.deployments.get(id);
  if (!deployment || !schema.at(id, target.service)) return "unknownDeployment";
  const protocol = negotiate(deployment.minProtocol, deployment.maxProtocol);
  return protocol === undefined ? "otherProtocol" : { deployment: id, protocol };
}

/** As for a new request; the key that made the old one idempotent is not passed on. */
function retention(turn: Turn, row: InvocationRow): Retention {
  const found = handlerOf(turn, row);
  if (!found) return row.retention;
  const options = turn.schema.options(found.service, found.handler);
  return retentionOf(options, { isWorkflowRun: false });
}
