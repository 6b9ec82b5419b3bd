import fc from "fast-check";
import type { Awaiting, InvocationRow, Status } from "../../src/model/invocation.ts";
import type { Entry, NotificationResult, Result } from "../../src/model/journal.ts";
import type { Message } from "../../src/model/message.ts";
import {
  groupOf,
  type Item,
  itemOf,
  type Rows,
  type Table,
  TABLES,
  type Want,
  type Write,
} from "../../src/model/rows.ts";
import { bank, bucket, count, name, NAMES, origin, share, source, time } from "./_counters.ts";
import { invocationRow } from "../support/rows.ts";

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
const bytes = fc.oneof(
  fc.constant(new Uint8Array(0)),
  fc.constant(everyByte),
  fc.uint8Array({ maxLength: 20 }),
);

const { awaiting } = fc.letrec<{ awaiting: Awaiting }>((tie) => ({
  awaiting: fc.record({
    kind: fc.constantFrom("unknown", "first", "allCompleted", "any", "all"),
    completions: fc.array(count, { maxLength: 2 }),
    signals: fc.array(count, { maxLength: 2 }),
    names: fc.array(name, { maxLength: 2 }),
    nested: fc.array(tie("awaiting"), { maxLength: 2 }),
  }, { requiredKeys: ["kind", "completions", "signals", "names"] }),
}));

const status: fc.Arbitrary<Status> = fc.oneof(
  fc.constant<Status>({ kind: "invoked" }),
  fc.record({ kind: fc.constant("inboxed" as const), seq: count }),
  fc.record({
    kind: fc.constant("queued" as const),
    queue: fc.constantFrom("08:a::svc::", "08:b::svc::", "09:a:k/l:svc:run:*"),
    seq: count,
    since: time,
    by: fc.constantFrom("concurrency" as const, "rate" as const, "paused" as const),
  }),
  time.map((until): Status => ({ kind: "backingOff", until, holds: true })),
  fc.record({ kind: fc.constant("suspended" as const), awaiting }),
  fc.constant<Status>({ kind: "paused" }),
  time.map((letterSince): Status => ({ kind: "paused", letterSince })),
);
const ending = fc.oneof(
  fc.record({
    output: bytes,
    status: fc.constant({ kind: "completed" } as const),
    expiresAt: time,
  }),
  fc.record({
    status: fc.record({
      kind: fc.constant("completed" as const),
      failure: fc.record({ code: count, message: name }),
    }),
    expiresAt: time,
  }),
  status.map((status) => ({ status })),
);

export const invocation: fc.Arbitrary<InvocationRow> = fc.tuple(
  fc.record({
    id: name,
    key: fc.option(name, { nil: undefined }),
    attempt: count,
    at: time,
    origin,
  }),
  fc.record(
    { pausing: fc.constant(true as const), seedOf: name, failingSince: time },
    { requiredKeys: [] },
  ),
  ending,
).map(([{ id, key, attempt, at, origin }, more, ending]) =>
  invocationRow({
    id,
    target: {
      service: "svc",
      handler: "run",
      type: "virtual_object",
      access: "exclusive",
      ...(key === undefined ? {} : { key }),
    },
    attempt,
    origin,
    createdAt: at,
    modifiedAt: at,
    ...more,
    ...ending,
  })
);

const ended: fc.Arbitrary<Result> = fc.oneof(
  fc.record({ kind: fc.constant("value" as const), value: bytes }),
  fc.record({
    kind: fc.constant("failure" as const),
    failure: fc.record({
      code: count,
      message: name,
      metadata: fc.array(fc.tuple(name, name), { maxLength: 2 }),
    }),
  }),
);
const result: fc.Arbitrary<NotificationResult> = fc.oneof(
  fc.constant<NotificationResult>({ kind: "void" }),
  fc.record({ kind: fc.constant("invocationId" as const), id: name }),
  fc.record({ kind: fc.constant("stateKeys" as const), keys: fc.array(name, { maxLength: 3 }) }),
  ended,
);
export const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({
    kind: fc.constant("input" as const),
    headers: fc.array(fc.tuple(name, name), { maxLength: 2 }),
    value: bytes,
  }),
  fc.record({ kind: fc.constant("command" as const), type: count, bytes }),
  fc.record({
    kind: fc.constant("notification" as const),
    type: count,
    id: fc.oneof(
      fc.record({ kind: fc.constant("completion" as const), id: count }),
      fc.record({ kind: fc.constant("signal" as const), index: count }),
      fc.record({ kind: fc.constant("named" as const), name }),
    ),
    result,
  }),
);

const lock = fc.record({ object: name, holder: name, head: count, tail: count });
const event: fc.Arbitrary<Rows["event"]> = fc.record({
  id: name,
  seq: count,
  at: time,
  after: count,
  kind: fc.constantFrom("transientError" as const, "paused" as const),
  failure: fc.record({ code: name, status: count, message: name, stacktrace: name }),
}, { requiredKeys: ["id", "seq", "at", "after", "kind"] });
const inbox = fc.record(
  { object: name, seq: count, id: name, edit: name },
  { requiredKeys: ["object", "seq", "id"] },
);
const state = fc.record({ object: name, name, value: bytes });
/** With and without a result; a value may be empty, which is not the same as none. */
const promise: fc.Arbitrary<Rows["promise"]> = fc.record({
  object: name,
  name,
  result: ended,
  listeners: fc.array(fc.record({ id: name, completion: count, type: count }), { maxLength: 2 }),
}, { requiredKeys: ["object", "name", "listeners"] });
const timer = fc.record({
  id: name,
  due: time,
  kind: fc.constantFrom("start" as const, "retry" as const, "sleep" as const),
  index: fc.constantFrom(0, 1, 2, 10),
});

const caller = fc.record({ id: name, completion: count, type: count });
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    type: fc.constant("invoked" as const),
    id: name,
    fresh: fc.boolean(),
    target: fc.constant(
      { service: "svc", handler: "run", type: "service", access: "none" } as const,
    ),
    headers: fc.array(fc.tuple(name, name), { maxLength: 2 }),
    value: bytes,
    origin: fc.record({ by: fc.constant("service" as const), id: name, target: name }),
    retention: fc.constant({ resultMs: 1, journalMs: 2 }),
    caller,
  }, {
    requiredKeys: ["type", "id", "fresh", "target", "headers", "value", "origin", "retention"],
  }),
  fc.record({ type: fc.constant("asked" as const), id: name, wait: fc.boolean(), caller }),
  fc.record({
    type: fc.constant("signaled" as const),
    signal: fc.record({
      target: name,
      id: fc.record({ kind: fc.constant("named" as const), name }),
      result: fc.oneof(fc.constant({ kind: "void" } as const), ended),
    }),
  }),
  fc.record({ type: fc.constant("answered" as const), caller, result }),
  fc.record({ type: fc.constant("killed" as const), id: name }),
);
/** The contract runs as partition 3. Among the numbers are some that sort otherwise as text. */
const ends = { from: fc.constant(3), to: fc.constantFrom(0, 1, 2, 10) };
const outbox = fc.record({ ...ends, seq: count, message });
const peer = fc.record({ ...ends, sent: count, heard: count });

/** Tables whose groups are emptied row by row, when their object is forgotten. */
type Named = "state" | "promise";

/** Something a turn does. Journals grow at their end and are dropped whole. */
type Change =
  | { readonly kind: "write"; readonly write: Write }
  | { readonly kind: "append"; readonly id: string; readonly entries: readonly Entry[] }
  | { readonly kind: "purge"; readonly id: string }
  | { readonly kind: "clear"; readonly table: Named; readonly object: string }
  /** Drops a journal and begins it anew, as a turn that keeps one write per row says it. */
  | { readonly kind: "renew"; readonly id: string; readonly entries: readonly Entry[] };

const entries = fc.array(entry, { minLength: 1, maxLength: 3 });
const rowOf = <T extends Table>(table: T, row: fc.Arbitrary<Rows[T]>): fc.Arbitrary<Change> =>
  fc.tuple(row, fc.boolean()).map(([row, drop]) => ({
    kind: "write",
    write: { table, row, drop },
  }));

export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    rowOf("invocation", invocation),
    rowOf("lock", lock),
    rowOf("event", event),
    rowOf("inbox", inbox),
    rowOf("state", state),
    rowOf("promise", promise),
    fc.record({
      kind: fc.constant("clear" as const),
      table: fc.constantFrom<Named>("state", "promise"),
      object: name,
    }),
    rowOf("timer", timer),
    rowOf("outbox", outbox),
    rowOf("peer", peer),
    rowOf("bucket", bucket),
    rowOf("share", share),
    rowOf("bank", bank),
    rowOf("source", source),
    fc.record({ kind: fc.constant("append" as const), id: name, entries }),
    fc.record({ kind: fc.constant("append" as const), id: name, entries }),
    fc.record({ kind: fc.constant("purge" as const), id: name }),
    fc.record({ kind: fc.constant("renew" as const), id: name, entries }),
  ),
  { maxLength: 8 },
);

/** Turns changes into writes. `lengths`: of the journals, before and (then) after. */
export function writesOf(changes: readonly Change[], lengths: Map<string, number>): Write[] {
  return changes.flatMap((change) => {
    if (change.kind === "write") return [change.write];
    if (change.kind === "clear") return cleared(change.table, change.object);
    const { id } = change;
    const before = lengths.get(id) ?? 0;
    if (change.kind === "purge") {
      lengths.set(id, 0);
      return dropped(id, 0, before);
    }
    const first = change.kind === "append" ? before : 0;
    lengths.set(id, first + change.entries.length);
    return [
      ...change.entries.map((entry, i): Write => ({
        table: "journal",
        row: { id, index: first + i, at: 5, entry },
        drop: false,
      })),
      ...dropped(id, first + change.entries.length, before),
    ];
  });
}

function cleared(table: Named, object: string): Write[] {
  const row = { object, value: new Uint8Array(0), listeners: [] };
  return NAMES.map((name): Write => ({ table, row: { ...row, name }, drop: true }));
}

function dropped(id: string, from: number, to: number): Write[] {
  const entry: Entry = { kind: "command", type: 0, bytes: new Uint8Array(0) };
  return Array.from({ length: Math.max(0, to - from) }, (_, i): Write => ({
    table: "journal",
    row: { id, index: from + i, at: 0, entry },
    drop: true,
  }));
}

/** Everything that can be asked about these writes: all groups, and every item they name. */
export function wantsOf(writes: readonly Write[]): Want[] {
  const names = [...NAMES, "3/0", "3/1", "3/10"];
  const wants = TABLES.flatMap((table) => names.map((group): Want => ({ table, group })));
  const items = new Map<string, Want>();
  for (const { table, row } of writes) {
    const item: Item = itemOf(table, row);
    const group = groupOf(table, row);
    items.set(JSON.stringify([table, group, item]), { table, group, item });
  }
  return [...wants, ...items.values(), { table: "journal", group: "a", item: 99 }];
}
