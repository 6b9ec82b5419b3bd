import type { InvocationRow } from "../../model/invocation.ts";
import { type PushedKeys, quoteTexts } from "./table.ts";

// `t` is a stored invocation, `live` the table of attempts that run: see `invocation_tables.ts`.

/** The stored status. */
export const STATUS_KIND = "t.status";
/** Whether the stored status is one of these. */
export const isKind = (...kinds: readonly string[]) => `${STATUS_KIND} in ${quoteTexts(kinds)}`;

/** Whether an attempt runs. */
export const isRunning = "(t.id in (select l.id from live as l))";
/** Said as well, so that an index of the few that are open can be used. */
export const IS_OPEN = `${STATUS_KIND} <> 'completed'`;

/** The status as `sys_invocation_status` shows it. */
export const RAW_STATUS = `case ${STATUS_KIND} when 'backingOff' then 'invoked' ` +
  `when 'queued' then 'inboxed' else ${STATUS_KIND} end`;
/** The status as `sys_invocation` shows it. */
export const SHOWN_STATUS = `case ${STATUS_KIND} when 'inboxed' then 'pending' ` +
  `when 'queued' then 'pending' ` +
  `when 'backingOff' then 'backing-off' ` +
  `when 'invoked' then case when ${isRunning} then 'running' else 'ready' end ` +
  `else ${STATUS_KIND} end`;

type Kind = InvocationRow["status"]["kind"];

/** What a stored status is shown as: first in `sys_invocation_status`, then in `sys_invocation`. */
const SHOWN: Readonly<Record<Kind, readonly string[]>> = {
  scheduled: ["scheduled"],
  inboxed: ["inboxed", "pending"],
  queued: ["inboxed", "pending"],
  invoked: ["invoked", "running", "ready"],
  backingOff: ["invoked", "backing-off"],
  suspended: ["suspended"],
  paused: ["paused"],
  completed: ["completed"],
};
/** All that `RAW_STATUS` may be. */
export const RAW_STATUSES = unique(Object.values(SHOWN).flatMap((all) => all.slice(0, 1)));
/** All that `SHOWN_STATUS` may be. */
export const SHOWN_STATUSES = unique(
  Object.values(SHOWN).flatMap((all) => all.length > 1 ? all.slice(1) : all),
);

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** The condition of an index for the ids and statuses that are wanted: see `Table.seek`. */
export function seekInvocations(pushed: PushedKeys): string | undefined {
  const ids = pushed.get("id");
  if (ids) return `t.id in ${quoteTexts(ids)}`;
  const shown = pushed.get("status");
  if (!shown) return undefined;
  const stored = (Object.keys(SHOWN) as Kind[])
    .filter((kind) => SHOWN[kind].some((one) => shown.includes(one)));
  return stored.includes("completed") ? isKind(...stored) : `${IS_OPEN} and ${isKind(...stored)}`;
}
