import { BadId, checkDeploymentId, parseInvocationId } from "../../model/id.ts";
import { type Rows, shareOf, sourceOf } from "../../model/rows.ts";
import type { SqlRow } from "../../ports.ts";
import { decodeInvocation, decodePromise } from "../codec/row_codec.ts";
import { fromJson, fromSafe } from "../codec/safe_text.ts";
import { BadLine } from "./dump.ts";
import type { RowTable } from "./row_table.ts";

/**
 * Checks that a server can read an imported row and that its columns agree: a row that it cannot read
 * would stop a whole partition. Throws `BadLine`.
 */
export function checkRow(table: RowTable, row: SqlRow): void {
  try {
    check(table, row);
  } catch (cause) {
    if (cause instanceof BadId) throw new BadLine(`its id is none: ${cause.message}`, { cause });
    if (cause instanceof SyntaxError) throw new BadLine("a column holds no JSON", { cause });
    throw cause;
  }
}

function check({ name, home }: RowTable, row: SqlRow): void {
  if (home === "id") parseInvocationId(text(row, "id"));
  if (home === "object" && !text(row, "object").includes("/")) throw new BadLine("it is no object");
  switch (name) {
    case "deployment":
      checkDeploymentId(text(row, "id"));
      return same(row, "id", json(row, "body")["id"]);
    case "audit":
      return void json(row, "body");
    case "rule":
      return same(row, "pattern", json(row, "body")["pattern"]);
    case "control":
      return checkControl(row);
    case "invocation":
      return checkInvocation(row);
    case "journal":
      return checkJournal(row);
    case "event":
      same(row, "id", json(row, "body")["id"]);
      return same(row, "seq", json(row, "body")["seq"]);
    case "promise": {
      const { object, name } = decodePromise(row["body"] as string, null);
      same(row, "object", object);
      return same(row, "name", name);
    }
    case "source":
      return checkSource(row);
    case "share":
      return checkShare(row);
    case "bank":
      return checkBank(row);
    case "timer":
      if (!TIMERS.has(String(row["kind"]))) throw new BadLine(`there is no such timer`);
  }
}

/** Controls by kind: the field of the body that is their name, if one is. */
const CONTROLS: ReadonlyMap<unknown, string | undefined> = new Map([
  ["book", undefined],
  ["service", undefined],
  ["deployment", undefined],
  ["queue", undefined],
  ["kafka_cluster", "name"],
  ["subscription", "id"],
]);
const TIMERS: ReadonlySet<string> = new Set(["start", "retry", "sleep"]);

function checkControl(row: SqlRow): void {
  if (!CONTROLS.has(row["kind"])) throw new BadLine("there is no such control");
  const field = CONTROLS.get(row["kind"]);
  if (field === undefined) return void fromJson(row["body"] as string);
  same(row, "name", json(row, "body")[field]);
}

function checkInvocation(row: SqlRow): void {
  const { id, status, target, expiresAt, createdAt } = decodeInvocation(
    row["body"] as string,
    row["output"] as Uint8Array | null,
  );
  same(row, "id", id);
  same(row, "status", status?.kind);
  same(row, "expires_at", expiresAt ?? null);
  same(row, "created_at", createdAt ?? null);
  if (typeof target?.service !== "string") throw new BadLine("it has no target");
}

/** Checks a segment: its entries are consecutive, and their sizes add up to its bytes. */
function checkJournal(row: SqlRow): void {
  const entries = fromJson(row["entries"] as string);
  if (!Array.isArray(entries) || entries.length === 0) throw new BadLine("it has no entries");
  let index = row["first"] as number, bytes = 0;
  for (const entry of entries) {
    if (entry?.index !== index++) throw new BadLine("its entries are not in a row");
    bytes += entry.size ?? 0;
  }
  if (bytes !== (row["bytes"] as Uint8Array).length) throw new BadLine("its bytes do not fit");
}

function same(row: SqlRow, column: string, said: unknown): void {
  const value = row[column];
  const is = typeof value === "string" ? fromSafe(value) : value;
  if (is !== said) throw new BadLine(`column "${column}" is not what its body says`);
}

function json(row: SqlRow, column: string): Record<string, unknown> {
  const value = fromJson(row[column] as string);
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new BadLine(`column "${column}" holds no object`);
}

function text(row: SqlRow, column: string): string {
  return fromSafe(row[column] as string);
}

function checkSource(row: SqlRow): void {
  const body = json(row, "body") as unknown as Rows["source"];
  const { source, next, settled, earlier = [] } = body;
  if (typeof source !== "object") throw new BadLine("it has no source");
  same(row, "source", sourceOf(body));
  const isFit = Array.isArray(earlier) && earlier.every((nexts) => Array.isArray(nexts));
  if (!isFit || ![next, settled, ...earlier.flat()].every(Number.isSafeInteger)) {
    throw new BadLine("its offsets are none");
  }
}

function checkShare(row: SqlRow): void {
  const share = json(row, "body") as unknown as Rows["share"];
  same(row, "share", shareOf(share));
  if (![share.slots, share.starts, share.since ?? 0].every(isCount)) {
    throw new BadLine("its numbers are none");
  }
}

function checkBank(row: SqlRow): void {
  const { counter, given, waiting, counted = {} } = json(row, "body") as unknown as Rows["bank"];
  same(row, "counter", counter);
  const isFit =
    [given, counted].every((one) => typeof one === "object" && Object.values(one).every(isCount)) &&
    Array.isArray(waiting);
  if (!isFit) throw new BadLine("its numbers are none");
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
