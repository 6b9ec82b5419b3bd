import type { Command, Subject } from "../../model/command.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import { idOf } from "../../model/subject.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { append } from "./notification.ts";

/**
 * Reads the result of another invocation, waiting for it or not
 * (docs/spec/service-protocol.md#results-of-others).
 */
export function attach(
  turn: Turn,
  draft: InvocationDraft,
  { kind, bytes, subject, completion }: Command & { kind: "attach" | "getOutput" },
): undefined {
  append(turn, draft, { kind: "command", type: entryType[kind], bytes });
  const { id, createdAt: since } = draft;
  const caller = { id, completion, type: entryType[`${kind}Completion`], since };
  deliver(turn, { type: "asked", id: idOf(named(turn, subject)), wait: kind === "attach", caller });
}

/** An empty key is a key only for objects and workflows: for plain services it is ignored. */
function named(turn: Turn, subject: Subject): Subject {
  if (subject.by !== "idempotencyKey" || subject.key !== "") return subject;
  if (turn.schema.latest(subject.service)?.type !== "service") return subject;
  const { key: _, ...plain } = subject;
  return plain;
}
