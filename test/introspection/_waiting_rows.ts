import { printInvocationId } from "../../src/model/id.ts";
import type { InvocationRow, Status } from "../../src/model/invocation.ts";
import { entryType } from "../../src/model/journal.ts";
import type { Limits } from "../../src/model/limits.ts";
import { printQueueId } from "../../src/model/queue.ts";
import { invocationJson } from "../../src/storage/codec/invocation_json.ts";
import { invocationRow } from "../support/rows.ts";
import type { Rows } from "./_united.ts";

/** A time that is not now. */
export const AT = Date.parse("2026-11-20T10:20:30.456Z");
export const ISO = "2026-11-20T10:20:30.456Z";

type Parts = Partial<Omit<InvocationRow, "target">> & {
  readonly name?: string;
  readonly key?: string;
  readonly scope?: string;
};

const invocations: Record<string, unknown>[] = [];

/** Stores an invocation of `Svc/h`, or of an object with `key`. Answers its id. */
function stored(status: Status, { name = "Svc", key, scope, ...row }: Parts = {}): string {
  const id = printInvocationId(new Uint8Array(24).fill(invocations.length + 1));
  const target = {
    service: name,
    handler: "h",
    ...(key !== undefined && { key }),
    ...(scope !== undefined && { scope }),
    type: key === undefined ? "service" as const : "virtual_object" as const,
    access: key === undefined ? "none" as const : "exclusive" as const,
  };
  const body = invocationJson(invocationRow({ id, target, status, ...row }));
  invocations.push({ id, partition: 0, status: status.kind, created_at: 1, body });
  return id;
}

const queued = (queue: string, seq: number, by: "concurrency" | "rate" | "paused") =>
  ({ kind: "queued", queue, seq, since: AT, by }) as const;
const invoked = { kind: "invoked" } as const;
const suspended = (awaiting: Partial<Extract<Status, { kind: "suspended" }>["awaiting"]>) =>
  ({
    kind: "suspended",
    awaiting: { kind: "unknown", completions: [], signals: [1], names: [], ...awaiting },
  }) as const;

const failure = { code: "RT0007", status: 500, message: "it's broken" };

export const scheduled = stored({ kind: "scheduled", at: AT });
export const backingOff = stored({ kind: "backingOff", until: AT }, {
  failures: 2,
  lastFailure: failure,
});
export const pausedBy = stored({ kind: "paused" }, { lastFailure: failure, events: 1 });
export const pausedOnly = stored({ kind: "paused" });
export const ready = stored(invoked, { name: "Ready" });
export const completed = stored({ kind: "completed" });

export const holder = stored(invoked, {
  name: "Cart",
  key: "ada",
  inboxedAt: AT - 5,
  waitedMs: { lock: 5 },
});
export const behind = stored({ kind: "inboxed", seq: 12 }, { name: "Cart", key: "ada" });
export const scopedHolder = stored(invoked, {
  name: "Cart",
  key: "a/b",
  scope: "acme",
  inboxedAt: AT,
});
export const scopedBehind = stored({ kind: "inboxed", seq: 1 }, {
  name: "Cart",
  key: "a/b",
  scope: "acme",
});

// Two of a scope and one of its limit keys hold slots; one of them while it backs off.
stored(invoked, { scope: "acme", limitKey: "eu/x", name: "Any" });
stored({ kind: "backingOff", until: AT, holds: true }, {
  scope: "acme",
  limitKey: "us",
  name: "Any",
});
stored({ kind: "backingOff", until: AT }, { scope: "acme", limitKey: "eu", name: "Any" });
export const ofScope = stored(queued("q1", 7, "concurrency"), { scope: "acme" });
export const secondOfScope = stored(queued("q1", 9, "concurrency"), { scope: "acme" });
export const ofLevel = stored(queued("q2", 8, "concurrency"), { scope: "acme", limitKey: "eu" });
export const ofBoth = stored(queued("q3", 8, "concurrency"), { scope: "acme", limitKey: "eu/x" });
export const unlimited = stored(queued("q4", 1, "concurrency"), {
  scope: "free",
  limitKey: "eu/x",
});
export const rated = stored(queued("q5", 1, "rate"), { scope: "slow" });
export const resumed = stored(queued("q6", 1, "rate"), { scope: "slow", runningAt: 5 });

stored(invoked, { name: "Payment" });
export const ofService = stored(queued("q7", 1, "concurrency"), { name: "Payment" });
stored(invoked, { name: "Mail" });
export const ofHandler = stored(queued("q8", 1, "concurrency"), { name: "Mail" });
export const ofServiceRate = stored(queued("q13", 1, "rate"), { name: "Calm" });
export const ofHandlerRate = stored(queued("q14", 1, "rate"), { name: "Paced" });
export const ofPausedService = stored(queued("q9", 1, "paused"), { name: "Stopped" });
const pin = { deployment: "dp_old", protocol: 6 };
export const ofPausedDeployment = stored(queued("q10", 1, "paused"), { name: "Two", pin });
export const ofLatestDeployment = stored(queued("q11", 1, "paused"), { name: "One" });
export const ofPausedQueue = stored(queued("q12", 1, "paused"), {
  name: "Q",
  scope: "s",
  limitKey: "k",
});

export const nothing = stored(suspended({}));
export const sleeping = stored(suspended({ completions: [3] }));
export const awakeable = stored(suspended({ signals: [1, 17] }));
export const signal = stored(suspended({ names: ['it\'s "done"'] }));
export const promised = stored(suspended({ completions: [2] }), { name: "Flow", key: "f" });
export const calling = stored(suspended({ completions: [2] }));
export const callee = stored(invoked, {
  name: "Callee",
  key: "k",
  callers: [{ id: calling, completion: 2, type: entryType.callCompletion, since: 1 }],
});
export const unknown = stored(suspended({ completions: [5] }));
export const several = stored(suspended({ completions: [4], signals: [17], kind: "all" }));
export const nested = stored(suspended({
  kind: "all",
  signals: [],
  nested: [{ kind: "first", completions: [8], signals: [18], names: [] }],
}));
export const many = stored(suspended({ completions: Array.from({ length: 23 }, (_, i) => i) }));

const rule = (pattern: string, limits: Limits, disabled = false) => ({
  pattern,
  body: JSON.stringify({ pattern, limits, disabled, version: 1, modifiedAt: 1 }),
});
const control = (kind: string, name: string, body: unknown = true) => ({
  kind,
  name,
  body: JSON.stringify(body),
});
const deployment = (id: string, services: readonly string[], revision: number) => ({
  id,
  body: JSON.stringify({ id, services: services.map((name) => ({ name, revision })) }),
});
const timer = (id: string, idx: number) => ({ partition: 0, due: AT, id, kind: "sleep", idx });

const note = {
  kind: "notification",
  type: entryType.callInvocationIdCompletion,
  id: { kind: "completion", id: 1 },
  result: { kind: "invocationId", id: callee },
};

/** All rows: each invocation that is exported waits for something else, or does not wait. */
export const rows = {
  invocation: invocations,
  lock: [
    { object: "Cart/ada", holder, head: 10, tail: 14 },
    { object: "acme:Cart/a/b", holder: scopedHolder, head: 1, tail: 2 },
  ],
  rule: [
    rule("*", { concurrency: 1 }, true),
    rule("acme", { concurrency: 3 }),
    rule("acme/*", { concurrency: 1 }),
    rule("*/eu", { concurrency: 9 }),
    rule("acme/eu/*", { concurrency: 1 }),
    rule("*/*/*", { concurrency: 9 }),
    rule("slow", { rate: { count: 2, periodMs: 600_000 } }),
  ],
  bucket: ["scope:slow", "service:Calm", "handler:Paced/h"].map((counter) => // Half a token.
  ({ counter, partition: 0, tokens: 500_000, at: AT * 2, full_at: AT * 3 })),
  control: [
    control("book", "version", 3),
    control("service", "Payment", {
      limits: { concurrency: 1 },
      handlers: { x: { concurrency: 0 } },
    }),
    control("service", "Mail", {
      limits: { concurrency: 5 },
      handlers: { h: { concurrency: 1 } },
    }),
    control("service", "Calm", { limits: { rate: { count: 2, periodMs: 600_000 } } }),
    control("service", "Paced", {
      limits: { rate: { count: 9, periodMs: 1 } },
      handlers: { h: { rate: { count: 2, periodMs: 600_000 } } },
    }),
    control("service", "Stopped", { paused: true }),
    control("deployment", "dp_old"),
    control("deployment", "dp_new"),
    control("queue", printQueueId({ service: "Q", scope: "s", limitKey: "k" })),
  ],
  deployment: [
    deployment("dp_old", ["Two"], 1),
    deployment("dp_mid", ["Two"], 2),
    deployment("dp_new", ["One"], 3),
  ],
  event: [{ id: pausedBy, seq: 0, body: JSON.stringify({ at: AT, kind: "paused", failure }) }],
  timer: [timer(sleeping, 3), timer(sleeping, 9), timer(nested, 8)],
  promise: [{
    object: "Flow/f",
    name: "approved",
    body: JSON.stringify({ listeners: [{ id: promised, completion: 2 }] }),
  }, { object: "Flow/f", name: "other", body: JSON.stringify({ listeners: [] }) }],
  journal: [{
    id: calling,
    first: 0,
    entries: JSON.stringify([{ kind: "command", type: 1, size: 0 }, note]),
    bytes: new Uint8Array(0),
  }],
} as unknown as Rows;

/** What an installation has once. */
const ONCE = ["rule", "control", "deployment"];
/** Tables whose rows are with the invocation, or the object, that they belong to. */
const WITH = ["lock", "event", "timer", "promise", "journal"];

/**
 * The rows of one of three databases, of a partition each: the first has what there is once, the second
 * what belongs together, and plain calls are in all of them. So is what is used of a service's limits.
 */
export function part(at: number): Rows {
  const together = JSON.stringify(WITH.map((table) => rows[table]));
  const homeOf = (row: Record<string, unknown>, i: number) => {
    const { target } = JSON.parse(String(row["body"])) as InvocationRow;
    const isTogether = target.scope !== undefined || target.key !== undefined ||
      together.includes(String(row["id"]));
    return isTogether ? 1 : i % 3;
  };
  const isHere = (table: string) => (row: Record<string, unknown>, i: number) => {
    if (table === "invocation") return homeOf(row, i) === at;
    if (table === "bucket") return (String(row["counter"]).startsWith("scope:") ? 1 : 2) === at;
    return (ONCE.includes(table) ? 0 : 1) === at;
  };
  return Object.fromEntries(
    Object.entries(rows).map(([table, all]) => [table, all.filter(isHere(table))]),
  );
}
