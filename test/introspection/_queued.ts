import { printInvocationId } from "../../src/model/id.ts";
import type { InvocationRow, Status } from "../../src/model/invocation.ts";
import type { Rule, ServiceControl } from "../../src/model/limits.ts";
import { objectOf, type Target } from "../../src/model/target.ts";
import type { SqlRow } from "../../src/ports.ts";
import type { RunningAttempt } from "../../src/query_port.ts";
import type { Rows } from "./_united.ts";

/** When queries of these rows are asked. */
export const NOW = 1_800_000_000_000;

type Queued = Extract<Status, { kind: "queued" }>;

/** What a test says of an invocation. */
export interface Said {
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly scope?: string;
  readonly limitKey?: string;
  readonly status: Status | "queued";
  /** Of a queued one. Default: a concurrency. */
  readonly by?: Queued["by"];
  /** How long ago it was accepted and, if it is queued, began to wait. */
  readonly ageMs?: number;
  readonly row?: Partial<InvocationRow>;
  /** Of an invoked one: its attempt waits for a slot. */
  readonly isReady?: true;
  /** Of an invoked one whose attempt runs: how long that waited for a slot. */
  readonly slotWaitMs?: number;
}

/** Stored rows as the engine would leave them, put down by hand. */
export class Stored {
  /** The attempts that run: of all invoked ones that are not ready. */
  readonly running: RunningAttempt[] = [];
  readonly #tables = new Map<string, SqlRow[]>();
  #count = 0;

  /** Answers its id. */
  invocation(said: Said): string {
    const at = this.#count++;
    const { service = "Greeter", handler = "hang", key, scope, ageMs = 10_000 } = said;
    const since = NOW - ageMs;
    const target = {
      service,
      handler,
      ...(key !== undefined && { key }),
      ...(scope !== undefined && { scope }),
      type: key === undefined ? "service" : "virtual_object",
      access: key === undefined ? "none" : "exclusive",
    } as const satisfies Target;
    const status = said.status === "queued"
      ? this.#queued(target, { at, said, since })
      : said.status;
    const row = rowOf(idOf(at), { target, status, said, since });
    this.#add("invocation", {
      id: row.id,
      partition: 0,
      status: status.kind,
      created_at: since,
      body: JSON.stringify(row),
    });
    if (status.kind === "invoked" && !said.isReady) {
      const { slotWaitMs: waitedMs } = said;
      const waited = waitedMs === undefined ? {} : { waitedMs };
      this.running.push({ id: row.id, startedAt: since, deployment: "dp_1", ...waited });
    }
    if (key !== undefined && hasRun(status)) {
      const object = objectOf(service, key, scope);
      this.#add("lock", { object, holder: row.id, head: 1, tail: 1 });
    }
    return row.id;
  }

  #queued(
    { service, scope = "" }: Target,
    { at, said, since }: { readonly at: number; readonly said: Said; readonly since: number },
  ): Queued {
    const { limitKey = "", by = "concurrency", row } = said;
    const queue = `${row?.priority ?? 4}:${scope}:${limitKey}:${service}`;
    return { kind: "queued", queue, seq: at, since, by };
  }

  rule(pattern: string, limits: Rule["limits"], more: Partial<Rule> = {}): void {
    const body: Rule = { pattern, limits, disabled: false, version: 1, modifiedAt: 1, ...more };
    this.#add("rule", { pattern, body: JSON.stringify(body) });
  }

  service(name: string, control: ServiceControl): void {
    this.#add("control", { kind: "service", name, body: JSON.stringify(control) });
  }

  paused(kind: "deployment" | "queue", name: string): void {
    this.#add("control", { kind, name, body: "true" });
  }

  deployment(id: string, names: readonly string[], revision: number): void {
    const services = names.map((name) => ({ name, revision }));
    this.#add("deployment", { id, body: JSON.stringify({ id, services }) });
  }

  bucket(counter: string, tokens: number, at: number): void {
    this.#add("bucket", { counter, partition: 0, tokens, at, full_at: at + 1000 });
  }

  /** The rows of one database of `count`. What is shared is in the first. */
  rows(at = 0, count = 1): Rows {
    const shared = ["rule", "control", "deployment"];
    return Object.fromEntries([...this.#tables].map(([table, rows]) => [
      table,
      shared.includes(table)
        ? (at === 0 ? rows : [])
        : rows.filter((row) => partitionOf(row, count) === at),
    ]));
  }

  #add(table: string, row: SqlRow): void {
    this.#tables.set(table, [...this.#tables.get(table) ?? [], row]);
  }
}

function rowOf(
  id: string,
  { target, status, said: { limitKey, row }, since }: {
    readonly target: Target;
    readonly status: Status;
    readonly said: Said;
    readonly since: number;
  },
) {
  return {
    id,
    target,
    status,
    origin: { by: "ingress" },
    journal: 1,
    commands: 1,
    failures: 0,
    failuresSinceCommand: 0,
    ...(limitKey !== undefined && { limitKey }),
    retention: { resultMs: 1000, journalMs: 1000 },
    createdAt: since,
    modifiedAt: since,
    ...(hasRun(status) && { runningAt: since }),
    ...row,
  };
}

function hasRun({ kind }: Status): boolean {
  return !["queued", "inboxed", "scheduled"].includes(kind);
}

export function idOf(at: number): string {
  const bytes = new Uint8Array(24);
  new DataView(bytes.buffer).setUint32(0, at * 40_000 + 7);
  return printInvocationId(bytes);
}

/** What is of one scope, or of one object, is in one partition. */
function partitionOf({ id, body, object, counter, holder }: SqlRow, count: number): number {
  if (counter !== undefined) return hash(/^scope:([^/]*)/.exec(String(counter))?.[1] ?? "", count);
  if (object !== undefined) {
    const scope = /^([^/:]*):/.exec(String(object))?.[1];
    return hash(scope ?? String(object), count);
  }
  const { target } = JSON.parse(String(body)) as InvocationRow;
  return hash(
    target.scope ??
      (target.key === undefined ? String(id ?? holder) : objectOf(target.service, target.key)),
    count,
  );
}

function hash(text: string, count: number): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) % 1009;
  return sum % count;
}
