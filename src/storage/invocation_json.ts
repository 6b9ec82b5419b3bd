import type { InvocationRow, Status } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import { toJson } from "./safe_text.ts";

/**
 * An invocation as JSON, without its output: what `toJson` makes of it, written out by hand
 * because every call writes it twice. A test holds the two together.
 */
export function invocationJson(row: InvocationRow): string {
  const { id, target, status, origin, pin, callers, retention, lastFailure, answer } = row;
  return `{"id":${quoted(id)},"target":${targetJson(target)},"status":${
    statusJson(status)
  },"origin":${
    origin.by === "ingress" ? '{"by":"ingress"}' : toJson(origin)
  },"attempt":${row.attempt},"heard":${row.heard},"journal":${row.journal},"commands":${row.commands},"failures":${row.failures},"failuresSinceCommand":${row.failuresSinceCommand}${
    lastFailure ? `,"lastFailure":${toJson(lastFailure)}` : ""
  }${
    pin ? `,"pin":{"deployment":${quoted(pin.deployment)},"protocol":${pin.protocol}}` : ""
  },"callers":${callers.length === 0 ? "[]" : toJson(callers)}${
    row.idempotencyKey === undefined ? "" : `,"idempotencyKey":${toJson(row.idempotencyKey)}`
  },"retention":{"resultMs":${retention.resultMs},"journalMs":${retention.journalMs}}${
    timesJson(row)
  }${answer ? `,"answer":${toJson(answer)}` : ""}}`;
}

const HARMLESS = /^[\w.-]*$/;

/** Ids hold nothing that JSON must escape, but nobody relies on it. */
function quoted(text: string): string {
  return HARMLESS.test(text) ? `"${text}"` : toJson(text);
}

function timesJson(row: InvocationRow): string {
  const { scheduledAt, inboxedAt, runningAt, completedAt, expiresAt } = row;
  let text = `,"createdAt":${row.createdAt},"modifiedAt":${row.modifiedAt}`;
  if (scheduledAt !== undefined) text += `,"scheduledAt":${scheduledAt}`;
  if (inboxedAt !== undefined) text += `,"inboxedAt":${inboxedAt}`;
  if (runningAt !== undefined) text += `,"runningAt":${runningAt}`;
  if (completedAt !== undefined) text += `,"completedAt":${completedAt}`;
  if (expiresAt !== undefined) text += `,"expiresAt":${expiresAt}`;
  return text;
}

/** Targets are shared by reference between the versions of a row. */
const targets = new WeakMap<Target, string>();

function targetJson(target: Target): string {
  let text = targets.get(target);
  if (text === undefined) targets.set(target, text = toJson(target));
  return text;
}

function statusJson(status: Status): string {
  switch (status.kind) {
    case "invoked":
      return '{"kind":"invoked"}';
    case "completed":
      return status.failure ? toJson(status) : '{"kind":"completed"}';
    default:
      return toJson(status);
  }
}
