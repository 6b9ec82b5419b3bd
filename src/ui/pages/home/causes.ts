import { type Sql, sql } from "../../data/sql.ts";
import type { Verb } from "../../data/commands.ts";
import { objectLink } from "../../data/objects.ts";
import { filterLink, statusTerm } from "../../data/filter_link.ts";
import { link, linkWith } from "../../state/router.ts";
import type { IconName } from "../../widgets/icon.tsx";
import { failureOf, type HolderRow, type OpenRow } from "./statements.ts";

/** What can be done about a cause, at once for all that have it. */
export type Action =
  & { readonly label: string }
  & (
    | {
      readonly kind: "invocations";
      readonly verb: Verb;
      /** Exactly those that it is done to, of `sys_invocation`. */
      readonly criteria: readonly Sql[];
      /** The same in words. */
      readonly about: string;
    }
    | {
      readonly kind: "request";
      readonly method: "PATCH" | "POST";
      readonly path: string;
      readonly body?: unknown;
    }
  );

/** Something that somebody has to care for. */
export interface Cause {
  readonly id: string;
  readonly icon: IconName;
  /** What it is, in one word. */
  readonly word: string;
  /** What has it: a handler, a key, a deployment. */
  readonly who: string;
  readonly why: string;
  /** Since when that is so. */
  readonly since?: string;
  /** More of it in the words of the server, with moments and ids of invocations. */
  readonly reason?: string;
  readonly count?: number;
  readonly unit?: string;
  readonly oldest?: string;
  readonly show: string;
  readonly actions: readonly Action[];
}

/** Different failures of one handler that are shown one by one. Of more, the handler is one cause. */
const FAILURES_MAX = 3;
/** A lock is handed on at once, usually. One that others wait for longer is a cause, in ms. */
const HELD_MS = 2_000;

/** The first line: what follows is a stack trace. */
export const firstLine = (text: string) => text.split("\n", 1)[0] ?? "";

/** Those that retry and those that are paused, by handler and failure. */
export function failing(rows: readonly OpenRow[]): Cause[] {
  const own = rows.filter(({ cause, status }) =>
    cause === "open" && (status === "backing-off" || status === "paused")
  );
  const byHandler = Map.groupBy(
    own,
    ({ service, handler, status }) => JSON.stringify([service, handler, status]),
  );
  return [...byHandler.values()].flatMap((same) => {
    const byText = [...Map.groupBy(same, ({ text = "" }) => firstLine(text)).values()];
    return byText.length > FAILURES_MAX
      ? [handlerCause(same, `${byText.length} different failures`)]
      : byText.map((rows) => handlerCause(rows));
  });
}

/** `summary`: in place of the one failure, for all failures of a handler. */
function handlerCause(rows: readonly OpenRow[], summary?: string): Cause {
  const { service = "", handler = "", status = "", text = "" } = rows[0]!;
  const isPaused = status === "paused";
  const line = summary === undefined ? firstLine(text) : "";
  const texts = rows.map((row) => row.text ?? "");
  const criteria = [
    sql`status = ${status}`,
    sql`target_service_name = ${service}`,
    sql`target_handler_name = ${handler}`,
    ...(summary === undefined ? [sql`COALESCE(${failureOf(status)}, '') IN ${texts}`] : []),
  ];
  const word = isPaused ? "paused" : "retrying";
  const about = `${word} invocations of ${service}/${handler}` +
    (line === "" ? "" : ` with the failure “${line}”`);
  const common = { kind: "invocations", criteria, about } as const;
  return {
    id: `${word} ${service}/${handler} ${line}`,
    icon: word,
    word,
    who: `${service}/${handler}`,
    why: summary ?? (line === "" ? "without a failure" : line),
    ...sumOf(rows),
    show: filterLink({
      status: statusTerm(status),
      service,
      handler,
      ...(!isPaused && { error: plainPart(line) }),
    }),
    actions: isPaused ? [{ ...common, label: "Resume", verb: "resume" }] : [
      { ...common, label: "Retry now", verb: "resume" },
      { ...common, label: "Pause", verb: "pause" },
    ],
  };
}

/** What a list can search for: `[500 Internal] ` is put in front by the server. */
const plainPart = (line: string) => line.replace(/^\[[^\]]*\] /, "");

function sumOf(rows: readonly OpenRow[]) {
  const since = rows.flatMap((row) => row.since ?? []).toSorted()[0];
  const count = rows.reduce((sum, { n = 0 }) => sum + Number(n), 0);
  return {
    count,
    unit: count === 1 ? "invocation" : "invocations",
    ...(since !== undefined && { oldest: since }),
  };
}

/** Objects that others wait for, and for how long already. `now`: in ms since the epoch. */
export function heldObjects(rows: readonly OpenRow[], now: number): readonly OpenRow[] {
  return rows.filter(({ cause, since }) =>
    cause === "lock" && since !== undefined && now - Date.parse(since) >= HELD_MS
  );
}

/** Locks that others wait for, with their holders. `holders`: undefined until they are known. */
export function locks(
  held: readonly OpenRow[],
  holders: readonly HolderRow[] | undefined,
): Cause[] {
  return held.map((row): Cause => {
    const { service = "", key = "" } = row;
    const holder = holders?.find((one) => one.service_name === service && one.service_key === key);
    return {
      id: `lock ${service}/${key}`,
      icon: "lock",
      word: "locked",
      who: `${service}/${key}`,
      ...(holder
        ? {
          why: `held by ${holder.handler}`,
          ...(holder.running_at !== undefined && { since: holder.running_at }),
          reason: holder.waiting_reason ?? holder.status,
        }
        : { why: holders ? "its holder changes" : "" }),
      ...sumOf([row]),
      unit: "waiting",
      show: objectLink(service, key),
      actions: holder
        ? [{
          kind: "invocations",
          label: "Cancel holder",
          verb: "cancel",
          criteria: [sql`id = ${holder.id}`],
          about: `the invocation ${holder.id} of ${holder.handler}, which holds ${service}/${key}`,
        }]
        : [],
    };
  });
}

/** Queues that are paused, and subscriptions that stand. */
export function queuesAndKafka(rows: readonly OpenRow[]): Cause[] {
  return rows.flatMap((row): Cause[] => {
    const { cause, service = "", key = "", text = "", id = "", n, since } = row;
    if (cause === "queue") {
      const name = [key === "" ? service : key, text].filter((part) => part !== "").join(", ");
      return [{
        id: `queue ${id}`,
        ...{ icon: "paused", word: "paused", who: name, why: "the queue is paused" },
        ...{
          count: Number(n ?? 0),
          unit: "waiting",
          ...(since !== undefined && { oldest: since }),
        },
        show: linkWith(link("limits"), { queue: id }),
        actions: [
          { kind: "request", label: "Resume", method: "POST", path: `vqueues/${id}/resume` },
        ],
      }];
    }
    if (cause !== "kafka") return [];
    const why = text === "" ? "nothing is consumed" : firstLine(text);
    return [{
      id: `kafka ${id}`,
      ...{ icon: "kafka", word: row.status ?? "failing", who: key, why },
      ...(since !== undefined && { oldest: since }),
      show: link("kafka"),
      actions: [],
    }];
  });
}
