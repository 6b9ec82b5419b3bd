import type { Command } from "../../model/command.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType, type NotificationResult } from "../../model/journal.ts";
import { objectOf, type Target } from "../../model/target.ts";
import type { Turn } from "../turn.ts";
import type { Refusal } from "./frames_received.ts";
import { append } from "./notification.ts";

type Read = Command & { kind: "getEagerState" | "getEagerStateKeys" };
type Lazy = Command & { kind: "getLazyState" | "getLazyStateKeys" };
type Change = Command & { kind: "setState" | "clearState" | "clearAllState" };

/** A read that the SDK answered from its eager state: stored for replay only. */
export function readState(turn: Turn, draft: InvocationDraft, frame: Read): Refusal | undefined {
  if (objectOfTarget(draft.target) === undefined) return noState(draft.target);
  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });
  return undefined;
}

/**
 * A read that the SDK cannot answer from eager state: completed at once
 * (docs/spec/service-protocol.md#state).
 */
export function lazyState(turn: Turn, draft: InvocationDraft, frame: Lazy): Refusal | undefined {
  const object = objectOfTarget(draft.target);
  if (object === undefined) return noState(draft.target);
  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });
  append(turn, draft, {
    kind: "notification",
    type: entryType[`${frame.kind}Completion`],
    id: { kind: "completion", id: frame.completion },
    result: frame.kind === "getLazyState" ? value(turn, object, frame.key) : keys(turn, object),
  });
  return undefined;
}

function value(turn: Turn, object: string, name: string): NotificationResult {
  const row = turn.find("state", object, name);
  return row ? { kind: "value", value: row.value } : { kind: "void" };
}

function keys(turn: Turn, object: string): NotificationResult {
  return { kind: "stateKeys", keys: turn.list("state", object).map(({ name }) => name) };
}

/** A write: applied in command order, visible to others once it is durable. */
export function changeState(
  turn: Turn,
  draft: InvocationDraft,
  frame: Change,
): Refusal | undefined {
  const object = objectOfTarget(draft.target);
  const { access } = draft.target;
  if (object === undefined) return noState(draft.target);
  if (access === "shared") {
    return { code: "RT0017", message: "a shared handler cannot write state" };
  }
  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });
  switch (frame.kind) {
    case "setState":
      turn.put("state", { object, name: frame.key, value: frame.value });
      return;
    case "clearState":
      turn.drop("state", { object, name: frame.key, value: NOTHING });
      return;
    case "clearAllState":
      for (const row of turn.list("state", object)) turn.drop("state", row);
  }
}

const NOTHING = new Uint8Array(0);

function objectOfTarget({ service, key, scope }: Target): string | undefined {
  return key === undefined ? undefined : objectOf(service, key, scope);
}

function noState({ service }: Target): Refusal {
  return { code: "RT0017", message: `the service '${service}' has no key, and so no state` };
}
