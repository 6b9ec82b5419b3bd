import { Icon, type IconName } from "./icon.tsx";

/** What people call where an invocation stands. */
export type Status =
  | "scheduled"
  | "pending"
  | "ready"
  | "running"
  | "retrying"
  | "suspended"
  | "paused"
  | "succeeded"
  | "failed"
  | "canceled"
  | "killed";

/** All of them, as they follow each other. */
export const STATUSES: readonly Status[] = [
  ...["scheduled", "pending", "ready", "running", "retrying", "suspended", "paused"] as const,
  ...["succeeded", "failed", "canceled", "killed"] as const,
];

/** The columns of SQL that say where an invocation stands. */
export interface StatusColumns {
  readonly status: string;
  readonly completion_result?: string;
  readonly completion_failure?: string;
}

const ENDED: Readonly<Record<string, Status>> = {
  "[409] cancelled": "canceled",
  "[409] canceled": "canceled",
  "[409] killed": "killed",
};

/** Where an invocation stands, of a row of `sys_invocation`. */
export function statusOf(row: StatusColumns): Status {
  if (row.status === "backing-off") return "retrying";
  if (row.status !== "completed") return row.status as Status;
  if (row.completion_result !== "failure") return "succeeded";
  return ENDED[(row.completion_failure ?? "").toLowerCase()] ?? "failed";
}

/** Shape, word and color: never by color alone. `more`: behind the word, such as a number of attempts. */
export function StatusBadge({ status, more }: { readonly status: Status; readonly more?: string }) {
  return (
    <span class={`status ${status}`}>
      <Icon name={status satisfies IconName} />
      <span>{more === undefined ? status : `${status} ${more}`}</span>
    </span>
  );
}
