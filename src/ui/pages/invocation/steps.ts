import type { Int } from "../../data/json.ts";

/** A row of `sys_journal`, without its values. */
export interface EntryRow {
  readonly index: Int;
  readonly entry_type: string;
  readonly name?: string;
  readonly appended_at?: string;
  readonly raw_length?: Int;
  readonly entry_lite_json?: string;
}

/** How a step ended: `pending` is awaited, `none` has nothing to end. */
export type Result = "none" | "pending" | "success" | "failure";

/** A command of the handler with what came of it, or a signal that it received. */
export interface Step {
  readonly index: number;
  /** The entry that has its result, if it is another one. */
  readonly resultIndex?: number;
  /** As it may have been written in the handler: `run("charge")`. */
  readonly code: string;
  readonly type: string;
  readonly result: Result;
  readonly at?: string;
  readonly endedAt?: string;
  /** The invocation that was called, attached to, or signaled. */
  readonly callee?: string;
  /** The promise that it waits for. */
  readonly promise?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

interface Ended {
  readonly index: number;
  readonly at?: string;
  readonly result: Result;
  readonly invocation?: string;
}

const textOf = (value: unknown) => typeof value === "string" ? value : undefined;
const quoted = (value: unknown) => JSON.stringify(textOf(value) ?? "");

/** `Greeter/greet`, `Cart/alice/add` of an `invocation_target`. */
function targetOf(value: unknown): string {
  const [target] = Object.values((value ?? {}) as Readonly<Record<string, Fields>>);
  const parts = [target?.["name"], target?.["key"], target?.["handler"]];
  return parts.filter((part) => typeof part === "string").join("/");
}

/** How a command may have been written, by its type. */
const CODES: Readonly<Record<string, (fields: Fields) => string>> = {
  Input: () => "input()",
  Output: () => "return",
  Run: ({ name }) => `run(${quoted(name)})`,
  Sleep: ({ name }) => `sleep(${textOf(name) ? quoted(name) : ""})`,
  Call: ({ invocation_target: target }) => `call ${targetOf(target)}()`,
  OneWayCall: ({ invocation_target: target }) => `send ${targetOf(target)}()`,
  GetEagerState: ({ key }) => `get(${quoted(key)})`,
  GetLazyState: ({ key }) => `get(${quoted(key)})`,
  GetEagerStateKeys: () => "stateKeys()",
  GetLazyStateKeys: () => "stateKeys()",
  SetState: ({ key }) => `set(${quoted(key)})`,
  ClearState: ({ key }) => `clear(${quoted(key)})`,
  ClearAllState: () => "clearAll()",
  GetPromise: ({ key }) => `promise(${quoted(key)})`,
  PeekPromise: ({ key }) => `promise(${quoted(key)}).peek()`,
  CompletePromise: ({ key, result }) =>
    `promise(${quoted(key)}).${result === "Failure" ? "reject" : "resolve"}()`,
  CompleteAwakeable: ({ result }) =>
    result === "Failure" ? "rejectAwakeable()" : "resolveAwakeable()",
  SendSignal: ({ signal_id: id }) => `signal(${JSON.stringify(Object.values(id ?? {})[0] ?? "")})`,
  AttachInvocation: () => "attach()",
  GetInvocationOutput: () => "output()",
};

/**
 * The steps of a journal, in its order: each command with its result, and signals. `isWhole`: whether
 * these are all entries; else nothing is pending, since its result may be among the others.
 */
export function stepsOf(rows: readonly EntryRow[], isWhole = true): Step[] {
  const parsed = rows.map((row) => ({ row, json: parsedOf(row.entry_lite_json) }));
  const ended = new Map<number, Ended>();
  const steps: Step[] = [];
  for (const { row, json } of parsed) {
    const notification = json["Notification"] as Fields | undefined;
    if (!notification) continue;
    const id = ((notification["id"] ?? {}) as Fields)["CompletionId"];
    if (typeof id === "number") ended.set(id, endOf(row, notification));
  }
  for (const { row, json } of parsed) {
    const notification = json["Notification"] as Fields | undefined;
    const signal = notification?.["ty"] === "Signal";
    if (signal) steps.push(signalOf(row, notification));
    else if (!notification) steps.push(commandOf(row, json, ended));
  }
  return isWhole
    ? steps
    : steps.map((step) => step.result === "pending" ? { ...step, result: "none" } : step);
}

function endOf(row: EntryRow, { result }: Fields): Ended {
  const isFailure = result === "Failure";
  return {
    index: Number(row.index),
    at: row.appended_at,
    result: isFailure ? "failure" : "success",
  };
}

function signalOf(row: EntryRow, notification: Fields): Step {
  const [name = ""] = Object.values((notification["id"] ?? {}) as Fields);
  // The first signal is reserved for it.
  const code = name === 1 ? "canceled" : `signal ${JSON.stringify(name)} arrives`;
  const { result, index, at } = endOf(row, notification);
  return { index, code, type: "Signal", result, at, endedAt: at };
}

function commandOf(row: EntryRow, json: Fields, ended: ReadonlyMap<number, Ended>): Step {
  const [type = row.entry_type, fields = {}] =
    Object.entries((json["Command"] ?? {}) as Readonly<Record<string, Fields>>)[0] ?? [];
  const awaited = fields["result_completion_id"] ?? fields["completion_id"];
  const end = typeof awaited === "number" ? ended.get(awaited) : undefined;
  const target = (fields["target"] ?? {}) as Fields;
  return {
    index: Number(row.index),
    code: CODES[type]?.(fields) ?? type,
    type,
    result: resultOf(fields, typeof awaited === "number", end),
    at: row.appended_at,
    ...(end && { resultIndex: end.index, endedAt: end.at }),
    ...(type === "GetPromise" && { promise: textOf(fields["key"]) }),
    callee: textOf(fields["invocation_id"]) ?? textOf(fields["target_invocation_id"]) ??
      textOf(target["InvocationId"]),
  };
}

function resultOf({ result }: Fields, isAwaited: boolean, end: Ended | undefined): Result {
  if (end) return end.result;
  if (isAwaited) return "pending";
  if (result === undefined) return "none";
  return result === "Failure" ? "failure" : "success";
}

/** The JSON of an entry. Empty if it is damaged. */
export function parsedOf(json: string | undefined): Fields {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return value !== null && typeof value === "object" ? value as Fields : {};
  } catch {
    // A damaged entry is shown by its type.
    return {};
  }
}

/** Fields of an entry whose numbers are the bytes of a value. */
const BYTES = new Set(["payload", "parameter", "value", "Success"]);

/** An entry with its values as text or JSON in place of their bytes. */
export function readable(entry: unknown, field = ""): unknown {
  if (Array.isArray(entry)) {
    return BYTES.has(field) ? valueOf(entry) : entry.map((one) => readable(one));
  }
  if (entry === null || typeof entry !== "object") return entry;
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [name, readable(value, name)]),
  );
}

/** What bytes mean: JSON, text, or hexadecimal digits if they are neither. */
export function valueOf(bytes: readonly number[]): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  } catch {
    return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
}
