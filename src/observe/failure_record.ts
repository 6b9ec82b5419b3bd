import type { AttemptFailure, InvocationRow } from "../model/invocation.ts";
import { entryType } from "../model/journal.ts";

/** Characters of an error's message in a record. The database has the whole message. */
export const MESSAGE_CHARS_MAX = 1000;

/** Codes whose message is from a handler or its SDK. All other messages are from this server. */
const MESSAGE_OF_SDK: ReadonlySet<string> = new Set(["RT0007", "RT0016"]);

const COMMAND_NAMES = new Map<number, string>(
  Object.entries(entryType).map(([name, type]) => [type, name]),
);

/** Fields of a log record. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields that identify the invocation of a record. Without `isDetailed` the key is omitted. */
export function subjectFields({ id, target }: InvocationRow, isDetailed: boolean): Fields {
  const { service, key, handler } = target;
  return { invocation: id, service, ...(isDetailed && key !== undefined && { key }), handler };
}

/**
 * The log record of a failed attempt: invocation, attempt, failure, next step, and the query (`POST
 * /query`) that shows more. `before` and `row`: the invocation before and after the failure. Without
 * `isDetailed` it has no text that a caller or a handler chose: no key, no name of a step, and no
 * message of the SDK.
 */
export function failureFields(
  { before, row, failure, isDetailed }: {
    readonly before: InvocationRow;
    readonly row: InvocationRow;
    readonly failure: AttemptFailure;
    readonly isDetailed: boolean;
  },
): Fields {
  const { code, message, related } = failure;
  const isTold = isDetailed || !MESSAGE_OF_SDK.has(code);
  return {
    ...subjectFields(row, isDetailed),
    // As the retry policy counts: the first attempt is 1, and so is the first one after a resumption.
    attempt: 1 + before.failures + (before.spared ?? 0),
    code,
    ...(isTold && { reason: cut(message) }),
    ...(related && { command: commandFields(related, isDetailed) }),
    ...nextFields(row),
    more: `SELECT * FROM ${tableOf(row)} WHERE id = '${row.id}'`,
  };
}

function cut(text: string): string {
  return text.length > MESSAGE_CHARS_MAX ? `${text.slice(0, MESSAGE_CHARS_MAX)}…` : text;
}

function commandFields(
  { index, type, name }: NonNullable<AttemptFailure["related"]>,
  isDetailed: boolean,
): Fields {
  return {
    ...(index !== undefined && { index }),
    ...(type !== undefined && { type: COMMAND_NAMES.get(type) ?? type }),
    ...(isDetailed && name && { name }),
  };
}

/** The table with the whole message: that of events, while the invocation is not completed. */
function tableOf({ status }: InvocationRow): string {
  return status.kind === "completed" ? "sys_invocation" : "sys_journal_events";
}

/** The next step of the invocation. An operator may have resumed it within the same turn. */
function nextFields({ status }: InvocationRow): Fields {
  switch (status.kind) {
    case "backingOff":
      return { next: "retry", retryAt: new Date(status.until).toISOString() };
    case "paused":
      return { next: "paused" };
    case "completed":
      return { next: "failed" };
    default:
      return { next: "retry" };
  }
}
