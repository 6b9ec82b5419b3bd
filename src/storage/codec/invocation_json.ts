import type {
  Awaiting,
  InvocationRow,
  Origin,
  Status,
  Suspensions,
} from "../../model/invocation.ts";
import type { Target } from "../../model/target.ts";
import { fromJson, inOnePiece, toJson } from "./safe_text.ts";

/**
 * An invocation as JSON, without its output: what `toJson` makes of it, written out by hand
 * because every call writes it twice. A test holds the two together.
 *
 * The awaited tree is text within the JSON, though. It may be nested a thousand deep
 * (docs/spec/storage-layout.md#json-depth), and SQLite reads no JSON of this depth: one such row would
 * break every query of the table. `parsedInvocation` is the reverse.
 */
export function invocationJson(row: InvocationRow): string {
  const { id, target, status, origin, pin, callers, retention, answer } = row;
  return inOnePiece(
    `{"id":${quoted(id)},"target":${targetJson(target)},"status":${statusJson(status)},"origin":${
      originJson(origin)
    },"attempt":${row.attempt},"heard":${row.heard},"journal":${row.journal},"commands":${row.commands},"failures":${row.failures}${
      row.spared ? `,"spared":${row.spared}` : ""
    },"failuresSinceCommand":${row.failuresSinceCommand}${
      row.failingSince === undefined ? "" : `,"failingSince":${row.failingSince}`
    }${failureJson(row)}${row.events ? `,"events":${row.events}` : ""}${
      row.failed ? `,"failed":${row.failed}` : ""
    }${row.pausing ? ',"pausing":true' : ""}${
      row.seedOf === undefined ? "" : `,"seedOf":${quoted(row.seedOf)}`
    }${row.trace ? `,"trace":${toJson(row.trace)}` : ""}${
      pin ? `,"pin":{"deployment":${quoted(pin.deployment)},"protocol":${pin.protocol}}` : ""
    },"callers":${callers.length === 0 ? "[]" : toJson(callers)}${
      row.idempotencyKey === undefined ? "" : `,"idempotencyKey":${toJson(row.idempotencyKey)}`
    }${
      flowJson(row)
    },"retention":{"resultMs":${retention.resultMs},"journalMs":${retention.journalMs}}${
      timesJson(row)
    }${answer ? `,"answer":${toJson(answer)}` : ""}}`,
  );
}

/**
 * The row that `invocationJson` wrote, once its JSON is parsed, with `output`. It has every field, in the
 * order of those that the engine makes: rows of many shapes would cost twice what rows of one do.
 */
export function parsedInvocation(json: unknown, output?: Uint8Array): InvocationRow {
  return wholeRow(json as InvocationRow, output);
}

/** Every field: one that is forgotten here does not compile, and would be lost at each read. */
type WholeRow = { readonly [Field in keyof Required<InvocationRow>]: InvocationRow[Field] };

function wholeRow(row: InvocationRow, output: Uint8Array | undefined): WholeRow {
  return {
    id: row.id,
    target: row.target,
    status: parsedStatus(row.status),
    origin: row.origin,
    attempt: row.attempt,
    heard: row.heard,
    journal: row.journal,
    commands: row.commands,
    failures: row.failures,
    spared: row.spared,
    failuresSinceCommand: row.failuresSinceCommand,
    failingSince: row.failingSince,
    lastFailure: row.lastFailure,
    lastAttempt: row.lastAttempt,
    events: row.events,
    failed: row.failed,
    pausing: row.pausing,
    seedOf: row.seedOf,
    pin: row.pin,
    trace: row.trace,
    callers: row.callers,
    idempotencyKey: row.idempotencyKey,
    limitKey: row.limitKey,
    priority: row.priority,
    waitedMs: row.waitedMs,
    suspensions: row.suspensions,
    retention: row.retention,
    createdAt: row.createdAt,
    modifiedAt: row.modifiedAt,
    scheduledAt: row.scheduledAt,
    inboxedAt: row.inboxedAt,
    runningAt: row.runningAt,
    completedAt: row.completedAt,
    expiresAt: row.expiresAt,
    answer: row.answer,
    output,
  };
}

function parsedStatus(status: Status): Status {
  if (status.kind !== "suspended" || typeof status.awaiting !== "string") return status;
  return { kind: "suspended", awaiting: fromJson(status.awaiting) as Awaiting };
}

/** By hand for the two that most rows have. */
function originJson(origin: Origin): string {
  if (origin.by === "ingress") return '{"by":"ingress"}';
  if (origin.by === "subscription") return `{"by":"subscription","id":${quoted(origin.id)}}`;
  return toJson(origin);
}

const HARMLESS = /^[\w.-]*$/;

/** Ids hold nothing that JSON must escape, but nobody relies on it. */
function quoted(text: string): string {
  return HARMLESS.test(text) ? `"${text}"` : toJson(text);
}

function failureJson({ lastFailure, lastAttempt }: InvocationRow): string {
  return (lastFailure ? `,"lastFailure":${toJson(lastFailure)}` : "") +
    (lastAttempt ? `,"lastAttempt":${toJson(lastAttempt)}` : "");
}

function flowJson({ limitKey, priority, waitedMs, suspensions }: InvocationRow): string {
  let text = limitKey === undefined ? "" : `,"limitKey":${quoted(limitKey)}`;
  if (priority !== undefined) text += `,"priority":${priority}`;
  if (waitedMs) text += `,"waitedMs":${toJson(waitedMs)}`;
  return suspensions ? text + suspensionsJson(suspensions) : text;
}

function suspensionsJson({ count, yields, ms, since }: Suspensions): string {
  const others = yields === undefined ? "" : `,"yields":${yields}`;
  const present = since === undefined ? "" : `,"since":${since}`;
  return `,"suspensions":{"count":${count}${others},"ms":${ms}${present}}`;
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
    case "suspended":
      return status.awaiting.nested
        ? `{"kind":"suspended","awaiting":${toJson(toJson(status.awaiting))}}`
        : toJson(status);
    default:
      return toJson(status);
  }
}
