import type { Command } from "../../model/command.ts";
import type { Caller, InvocationDraft } from "../../model/invocation.ts";
import { entryType, type NotificationResult, type Result } from "../../model/journal.ts";
import { objectOf } from "../../model/target.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import type { Refusal } from "./frames_received.ts";
import { append, completion } from "./notification.ts";

type PromiseCommand = Command & { kind: "getPromise" | "peekPromise" | "completePromise" };

/**
 * Durable promises belong to a workflow id, not to an invocation: its run and its shared handlers
 * see the same ones (docs/spec/service-protocol.md#promises).
 */
export function promise(
  turn: Turn,
  draft: InvocationDraft,
  frame: PromiseCommand,
): Refusal | undefined {
  const { type, service, key, scope } = draft.target;
  if (type !== "workflow" || key === undefined) {
    return { code: "RT0017", message: `the service '${service}' is no workflow: no promises` };
  }
  const object = objectOf(service, key, scope);
  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });
  const caller: Caller = {
    id: draft.id,
    completion: frame.completion,
    type: entryType[`${frame.kind}Completion`],
    since: draft.createdAt,
  };
  switch (frame.kind) {
    case "getPromise":
      get(turn, draft, { object, name: frame.key, caller });
      return;
    case "peekPromise": {
      const result = turn.find("promise", object, frame.key)?.result ?? OPEN;
      append(turn, draft, completion(caller, result));
      return;
    }
    case "completePromise":
      complete(turn, draft, { object, caller, frame });
  }
}

const OPEN: NotificationResult = { kind: "void" };

function get(
  turn: Turn,
  draft: InvocationDraft,
  { object, name, caller }: { object: string; name: string; caller: Caller },
): void {
  const known = turn.find("promise", object, name);
  if (known?.result) return append(turn, draft, completion(caller, known.result));
  turn.put("promise", { object, name, listeners: [...known?.listeners ?? [], caller] });
}

function complete(
  turn: Turn,
  draft: InvocationDraft,
  { object, caller, frame }: {
    object: string;
    caller: Caller;
    frame: PromiseCommand & { kind: "completePromise" };
  },
): void {
  const { key: name, result } = frame;
  const known = turn.find("promise", object, name);
  if (known?.result) return append(turn, draft, completion(caller, COMPLETED));
  append(turn, draft, completion(caller, OPEN));
  completePromise(turn, { object, name, result });
}

/** Completes a promise that has no result, and answers all that wait for it. */
export function completePromise(
  turn: Turn,
  { object, name, result }: {
    readonly object: string;
    readonly name: string;
    readonly result: Result;
  },
): void {
  const listeners = turn.find("promise", object, name)?.listeners ?? [];
  turn.put("promise", { object, name, result, listeners: [] });
  turn.prefetch(listeners.map(({ id }) => id));
  for (const listener of listeners) {
    deliver(turn, { type: "answered", caller: listener, result });
  }
}

const COMPLETED: NotificationResult = {
  kind: "failure",
  failure: { code: 409, message: "promise was already completed" },
};
