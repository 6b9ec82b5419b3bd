import { type EntryRow, type Fields, parsedOf } from "../steps.ts";

/** What a journal says about the state of its object or workflow. */
export interface Fact {
  /** The command: state changes and is read in the order of commands. */
  readonly at: number;
  readonly kind: "set" | "clear" | "clearAll" | "read" | "keys";
  readonly key: string;
  /** The entry that has the value or the names. */
  readonly valueIndex: number;
  /** A read that found nothing. */
  readonly isVoid: boolean;
}

const KINDS: Readonly<Record<string, Fact["kind"]>> = {
  SetState: "set",
  ClearState: "clear",
  ClearAllState: "clearAll",
  GetEagerState: "read",
  GetLazyState: "read",
  GetEagerStateKeys: "keys",
  GetLazyStateKeys: "keys",
};

/**
 * All facts of a journal, in its order. A read that is not answered yet is none. `rows`: all entries, or
 * at least those that say something of the state.
 */
export function factsOf(rows: readonly EntryRow[]): Fact[] {
  const parsed = rows.map((row) => [Number(row.index), parsedOf(row.entry_lite_json)] as const);
  const answers = new Map<unknown, { readonly index: number; readonly isVoid: boolean }>();
  for (const [index, json] of parsed) {
    const { id, result } = (json["Notification"] ?? {}) as Fields;
    const completion = ((id ?? {}) as Fields)["CompletionId"];
    if (completion !== undefined) answers.set(completion, { index, isVoid: result === "Void" });
  }
  return parsed.flatMap(([at, json]) => {
    const [type = "", fields = {}] = Object.entries((json["Command"] ?? {}) as Fields)[0] ?? [];
    const kind = KINDS[type];
    if (kind === undefined) return [];
    const { key = "", completion_id: completion, result } = fields as Fields;
    const own = { index: at, isVoid: result === "Void" };
    const { index: valueIndex, isVoid } = completion === undefined
      ? own
      : answers.get(completion) ?? { index: -1, isVoid: false };
    return valueIndex < 0 ? [] : [{ at, kind, key: String(key), valueIndex, isVoid }];
  });
}

/** What is known of one key at one entry. `at`: the entry by which it is known. */
export type Known =
  & { readonly key: string }
  & (
    | {
      readonly kind: "value";
      readonly by: "set" | "read";
      readonly at: number;
      valueIndex: number;
    }
    | { readonly kind: "absent"; readonly by: "clear" | "read" | "keys"; readonly at: number }
    /** It was there; nothing says with which value. */
    | { readonly kind: "present"; readonly at: number }
    /** Nothing says what it was before it was written at `at`. */
    | { readonly kind: "unknown"; readonly at: number }
  );

export interface StateAt {
  /** Every key that the journal names, in the order of the names. */
  readonly known: readonly Known[];
  /** Whether there certainly was no other key. */
  readonly isWhole: boolean;
}

/** The names that reads of all keys found, by the entry that has them. */
export type NamesByEntry = ReadonlyMap<number, readonly string[]>;

/**
 * The state right behind the entry `position`. A journal does not have the state of the beginning:
 * a value that was read before the key was written is what it had from the beginning, and a key that
 * nothing has read is unknown until it is written.
 */
export function stateAt(facts: readonly Fact[], position: number, names: NamesByEntry): StateAt {
  const keys = new Set<string>();
  for (const { kind, key, valueIndex } of facts) {
    if (kind === "keys") { for (const name of names.get(valueIndex) ?? []) keys.add(name); }
    else if (kind !== "clearAll") keys.add(key);
  }
  const known = [...keys].sort().map((key) => knownOf(key, facts, position, names));
  const cleared = facts.find(({ kind }) => kind === "clearAll")?.at ?? Infinity;
  const isListed = facts.some(({ kind, at, valueIndex }) =>
    kind === "keys" && at < cleared && names.has(valueIndex)
  );
  return { known, isWhole: cleared <= position || isListed };
}

function knownOf(
  key: string,
  facts: readonly Fact[],
  position: number,
  names: NamesByEntry,
): Known {
  const writes = facts.filter((fact) =>
    fact.kind === "clearAll" || (fact.key === key && (fact.kind === "set" || fact.kind === "clear"))
  );
  const last = writes.findLast(({ at }) => at <= position);
  if (last?.kind === "set") {
    return { key, kind: "value", by: "set", at: last.at, valueIndex: last.valueIndex };
  }
  if (last) return { key, kind: "absent", by: "clear", at: last.at };
  const writtenAt = writes[0]?.at ?? Infinity;
  return beginningOf(key, facts.filter(({ at }) => at < writtenAt), names) ??
    { key, kind: "unknown", at: writtenAt };
}

/** What a key had before it was written. `facts`: those before that. */
function beginningOf(key: string, facts: readonly Fact[], names: NamesByEntry): Known | undefined {
  const read = facts.find((fact) => fact.kind === "read" && fact.key === key);
  if (read) {
    const { at, valueIndex } = read;
    if (read.isVoid) return { key, kind: "absent", by: "read", at };
    return { key, kind: "value", by: "read", at, valueIndex };
  }
  const listed = facts.find(({ kind, valueIndex }) => kind === "keys" && names.has(valueIndex));
  if (!listed) return undefined;
  return names.get(listed.valueIndex)!.includes(key)
    ? { key, kind: "present", at: listed.at }
    : { key, kind: "absent", by: "keys", at: listed.at };
}

/** The value or the names within an entry with its values. Undefined: it has none. */
export function contentOf(json: string | undefined): unknown {
  const entry = parsedOf(json);
  const inside = (value: unknown): Fields => (value ?? {}) as Fields;
  const completion = inside(inside(entry["Notification"])["Completion"]);
  const [fields] = Object.values({ ...inside(entry["Command"]), ...completion });
  const { value, result, state_keys: keys } = inside(fields);
  const { Success: success, StateKeys: found } = inside(result);
  return keys ?? value ?? success ?? found;
}
