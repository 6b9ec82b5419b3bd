import type { Status } from "../widgets/status.tsx";
import { api, ApiError } from "./client.ts";

/** What can be done to invocations. */
export type Verb = "cancel" | "kill" | "pause" | "resume" | "restart-as-new" | "purge";

export interface Command {
  readonly verb: Verb;
  /** On a button. */
  readonly label: string;
  /** What happens, for the question before it. */
  readonly about: string;
  /** Where it does something. Elsewhere the server refuses it, or nothing changes. */
  readonly statuses: readonly Status[];
  readonly isDangerous: boolean;
  readonly key: string;
  /** What takes it back. Absent: nothing does. */
  readonly undo?: Verb;
}

const OPEN: readonly Status[] = [
  ...["scheduled", "pending", "ready", "running", "retrying", "suspended", "paused"] as const,
];
const ENDED: readonly Status[] = ["succeeded", "failed", "canceled", "killed"];

/** All commands, the usual ones first (docs/spec/admin.md#operations-on-invocations). */
export const COMMANDS: readonly Command[] = [
  {
    verb: "resume",
    label: "Resume",
    about: "Paused ones go on. Those that wait for a retry are tried at once.",
    statuses: ["paused", "retrying"],
    isDangerous: false,
    key: "r",
  },
  {
    verb: "pause",
    label: "Pause",
    about: "No further attempt begins until it is resumed.",
    statuses: ["running", "ready", "retrying"],
    isDangerous: false,
    key: "p",
    undo: "resume",
  },
  {
    verb: "cancel",
    label: "Cancel",
    about: "The handler learns of it and can undo what it did. Whom it called is canceled as well.",
    statuses: OPEN,
    isDangerous: true,
    key: "c",
  },
  {
    verb: "kill",
    label: "Kill",
    about:
      "It ends at once, and the handler cannot undo what it did. Whom it called is killed as well.",
    statuses: OPEN,
    isDangerous: true,
    key: "shift+k",
  },
  {
    verb: "restart-as-new",
    label: "Restart",
    about: "A new invocation begins with the same input.",
    statuses: ENDED,
    isDangerous: false,
    key: "shift+r",
  },
  {
    verb: "purge",
    label: "Purge",
    about: "Its result and its journal are deleted now.",
    statuses: ENDED,
    isDangerous: true,
    key: "shift+p",
  },
];

/** What a command is called for an invocation that stands there. */
export function labelFor({ verb, label }: Command, status: Status): string {
  return verb === "resume" && status === "retrying" ? "Retry now" : label;
}

/** What became of a command on many. */
export interface Outcome {
  readonly succeeded: number;
  readonly failed: readonly { readonly invocation_id: string; readonly error: string }[];
}

/** The most that one request may name. */
export const BATCH_MAX = 1_000;

/** Does a command to invocations, in as many requests as it takes. Throws `ApiError` when one is refused. */
export async function commandMany(verb: Verb, ids: readonly string[]): Promise<Outcome> {
  let succeeded = 0;
  const failed: Outcome["failed"][number][] = [];
  for (let from = 0; from < ids.length; from += BATCH_MAX) {
    const body = { invocation_ids: ids.slice(from, from + BATCH_MAX) };
    const path = `internal/invocations_batch_operations/${verb}`;
    const answer = await api<{ succeeded: unknown[]; failed: Outcome["failed"] }>(path, {
      method: "POST",
      body,
    });
    succeeded += answer.succeeded.length;
    failed.push(...answer.failed);
  }
  return { succeeded, failed };
}

/**
 * Does a command to one invocation. Answers the id of the new one for a restart. `query`: such as
 * `from=3`. Throws `ApiError`.
 */
export async function commandOne(verb: Verb, id: string, query = ""): Promise<string | undefined> {
  const path = `invocations/${encodeURIComponent(id)}/${verb}${query === "" ? "" : `?${query}`}`;
  const answer = await api<{ new_invocation_id?: string } | undefined>(path, { method: "PATCH" });
  return answer?.new_invocation_id;
}

/** What went wrong, as a text for people. */
export function messageOf(cause: unknown): string {
  return cause instanceof ApiError ? cause.message : String(cause);
}
