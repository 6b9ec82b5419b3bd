import type { SignalId, Subject } from "../../src/model/command.ts";
import type { Combinator } from "../../src/model/invocation.ts";
import type { Chance } from "./chance.ts";
import { targetOf } from "./schema.ts";

/**
 * What a handler does, as data: it travels as the input of its invocation, so that a service
 * needs to know nothing but the journal. `later`: not awaited now, but by `settle`.
 */
export type Op =
  /** A side effect whose value differs each time it is computed. */
  | { readonly do: "run"; readonly later?: boolean }
  | { readonly do: "sleep"; readonly ms: number; readonly later?: boolean }
  | {
    readonly do: "call";
    readonly to: string;
    readonly program: Program;
    readonly idempotencyKey?: string;
    readonly later?: boolean;
  }
  | {
    readonly do: "send";
    readonly to: string;
    readonly program: Program;
    readonly idempotencyKey?: string;
    readonly delayMs?: number;
  }
  /** Counts the object's `n` up: what is read twice or lost shows in the sum. */
  | { readonly do: "add" }
  | { readonly do: "set" | "clear" | "get"; readonly key: string }
  | { readonly do: "clearAll" | "keys" }
  /** Goes on when what was not awaited is over. `then`: one half of it is a tree of its own. */
  | { readonly do: "settle"; readonly how: Combinator; readonly then?: Combinator }
  | { readonly do: "promise"; readonly name: string; readonly later?: boolean }
  | { readonly do: "peek"; readonly name: string }
  | { readonly do: "keep"; readonly name: string; readonly isBroken?: boolean }
  /** Waits for a signal of its own: by the next index, or by name. */
  | { readonly do: "awakeable"; readonly later?: boolean }
  | { readonly do: "listen"; readonly name: string }
  | {
    readonly do: "signal";
    readonly to: string;
    readonly id: SignalId;
    readonly isBroken?: boolean;
  }
  /** Asks for somebody's result. `callee`: of whom was called last. */
  | {
    readonly do: "attach";
    readonly to: string | Subject;
    readonly wait: boolean;
    readonly later?: boolean;
  }
  /** Catches the next cancel and goes on with the next operation. */
  | { readonly do: "shield" }
  /** Fails so many attempts, and then does not. */
  | { readonly do: "stumble"; readonly attempts: number; readonly how: Stumble }
  /** Ends with a terminal failure. */
  | { readonly do: "fail" };

/**
 * `mute`: ends without output. `refused`: calls what is not there. `soon`: says when to retry.
 * `pause` and `die` say what to do instead of trying again.
 */
export type Stumble = "error" | "soon" | "mute" | "refused" | "pause" | "die";

export type Program = readonly Op[];

/** Who is called must not call back: each service stands on a floor and calls only below it. */
const FLOORS: Record<string, number> = { counter: 2, membership: 1 };
const CALLABLE: readonly (readonly string[])[] = [
  ["greeter/hi", "greeter/brief", "fragile/kill"],
  ["ledger/x/add", "ledger/y/add", "ledger/x/peek"],
  ["counter/a/add", "counter/b/add", "counter/z/lazy", "counter/b/peek", "counter/a/lazy"],
];
const SENDABLE = [...CALLABLE.flat(), "icebox/i/put", "brittle/pause"];

/** Where a client may aim. Workflows are named apart: each of their keys runs once. */
export const AIMS: readonly string[] = [...CALLABLE.flat(), "counter/a/add", "counter/z/add"];

/** A program for a handler, of at most `depth` nested calls. */
export function program(chance: Chance, path: string, depth: number): Program {
  const ops: Op[] = [];
  const { service, access, key } = targetOf(path);
  for (let n = chance.int(0, 5); n > 0; n--) ops.push(op(chance, path, depth));
  // Who looks at once sees what the turn before it did, or the same turn.
  if (access === "exclusive" && chance.happens(0.3)) ops.push(...looked(chance));
  if (access === "exclusive" && chance.happens(0.6)) ops.push({ do: "add" });
  if (key !== undefined && chance.happens(0.3)) ops.push({ do: "get", key: "m" });
  if (ops.some((one) => "later" in one && one.later) && chance.happens(0.7)) {
    ops.push(settle(chance));
  }
  if (chance.happens(0.15)) ops.push(...together(chance));
  // Who catches a cancel does something afterwards, or it would be the end all the same.
  if (chance.happens(0.25)) ops.unshift({ do: "shield" });
  if (chance.happens(0.15)) ops.push({ do: "sleep", ms: chance.pick([50, 400]) });
  if (service === "brittle" || service === "icebox") {
    if (chance.happens(0.5)) ops.push({ do: "stumble", attempts: 1e9, how: "error" });
  } else if (service === "fragile" && chance.happens(0.5)) {
    ops.push({ do: "stumble", attempts: 1e9, how: chance.pick(["error", "refused"]) });
  } else if (chance.happens(0.1)) ops.push({ do: "fail" });
  return ops;
}

function op(chance: Chance, path: string, depth: number): Op {
  const target = targetOf(path);
  const isKeyed = target.key !== undefined, mayWrite = isKeyed && target.access !== "shared";
  const floor = FLOORS[target.service] ?? (target.service === "flow" ? 3 : 0);
  const kinds: (() => Op)[] = [
    () => ({ do: "run", ...later(chance) }),
    () => ({ do: "run", ...later(chance) }),
    () => ({ do: "sleep", ms: chance.pick([0, 5, 50, 400]), ...later(chance) }),
    () => ({ do: "sleep", ms: chance.pick([0, 5, 50, 400]), ...later(chance) }),
    () => ({ do: "stumble", attempts: chance.int(1, 2), how: stumble(chance) }),
    () => chance.happens(0.5) ? waiting(chance) : settle(chance),
    () => chance.happens(0.5) ? signal(chance) : attach(chance),
  ];
  if (depth > 0) kinds.push(() => send(chance, target.key, depth));
  if (depth > 0 && (floor > 0 || target.service === "greeter")) {
    const below = CALLABLE.slice(0, Math.max(1, floor)).flat();
    kinds.push(() => call(chance, chance.pick(below), depth));
    if (floor > 0) kinds.push(() => shared(chance));
  }
  if (isKeyed) {
    kinds.push(
      () => ({ do: "get", key: chance.pick(["m", "k"]) }),
      () => ({ do: "keys" }),
    );
  }
  if (mayWrite) {
    kinds.push(
      () => ({ do: "set", key: chance.pick(["m", "k"]) }),
      () => ({ do: "set", key: "m" }),
      () => ({ do: "clear", key: chance.pick(["m", "k"]) }),
      () => target.key === "z" ? { do: "clearAll" } : { do: "add" },
    );
  }
  if (target.type === "workflow") { for (let n = 0; n < 4; n++) kinds.push(() => promise(chance)); }
  return chance.pick(kinds)();
}

/** Several waits whose ends may be good or bad, and a combinator over them. */
function together(chance: Chance): Op[] {
  const ops: Op[] = [];
  for (let n = chance.int(2, 5); n > 0; n--) {
    ops.push(chance.happens(0.7) ? { do: "awakeable", later: true } : { do: "run", later: true });
  }
  // Where some must fail and all must not, it shows whether failures are told from successes.
  return [...ops, chance.happens(0.3) ? { do: "settle", how: "all", then: "any" } : settle(chance)];
}

function settle(chance: Chance): Op {
  const kinds = ["first", "allCompleted", "any", "all"] as const;
  const how = chance.pick(kinds);
  return chance.happens(0.5)
    ? { do: "settle", how }
    : { do: "settle", how, then: chance.pick(kinds) };
}

/** A promise that this or another invocation resolves. */
function promise(chance: Chance): Op {
  const name = chance.pick(["p", "q"]);
  return chance.pick<() => Op>([
    () => ({ do: "promise", name, ...later(chance) }),
    () => ({ do: "promise", name, ...later(chance) }),
    () => ({ do: "peek", name }),
    () => ({ do: "keep", name, ...broken(chance) }),
  ])();
}

function waiting(chance: Chance): Op {
  return chance.happens(0.6)
    ? { do: "awakeable", ...later(chance) }
    : { do: "listen", name: chance.pick(["go", "on"]) };
}

/** For a callee, for a client's invocation, or for one that never was. */
function signal(chance: Chance): Op {
  const to = chance.pick(["callee", "callee", "c0", "c1", "c2", "c3", "nobody"]);
  return { do: "signal", to, id: signalId(chance), ...broken(chance) };
}

/** A signal that some handler may wait for. */
export function signalId(chance: Chance): SignalId {
  return chance.happens(0.6)
    ? { kind: "signal", index: chance.pick([17, 17, 18, 19]) }
    : { kind: "named", name: chance.pick(["go", "on"]) };
}

function attach(chance: Chance): Op {
  const to = chance.pick<string | Subject>([
    "callee",
    "callee",
    "c0",
    "c1",
    "c2",
    "nobody",
    { by: "workflow", service: "flow", key: "w1" },
    { by: "idempotencyKey", service: "greeter", handler: "hi", idempotencyKey: "k1" },
  ]);
  return { do: "attach", to, wait: chance.happens(0.6), ...later(chance) };
}

function broken(chance: Chance): { isBroken?: boolean } {
  return chance.happens(0.3) ? { isBroken: true } : {};
}

function looked(chance: Chance): Op[] {
  const key = chance.pick(["m", "k"]);
  const change: Op = { do: chance.pick(["set", "clear"]), key };
  return [{ do: "set", key }, ...chance.happens(0.5) ? [change] : [], { do: "keys" }];
}

function stumble(chance: Chance): Stumble {
  return chance.pick(["error", "error", "soon", "mute", "refused", "pause", "die"]);
}

function later(chance: Chance): { later?: boolean } {
  return chance.happens(0.4) ? { later: true } : {};
}

function call(chance: Chance, to: string, depth: number): Op {
  return { do: "call", to, program: program(chance, to, depth - 1), ...later(chance) };
}

/** Several callers share these ids. Not for `greeter` itself: it would wait for itself. */
function shared(chance: Chance): Op {
  const to = "greeter/hi", idempotencyKey = chance.pick(["k1", "k2"]);
  return { do: "call", to, program: program(chance, to, 0), idempotencyKey, ...later(chance) };
}

/** A one-way call may go anywhere, its own object included: no invocation waits for it. */
function send(chance: Chance, key: string | undefined, depth: number): Op {
  const to = key !== undefined && chance.happens(0.3)
    ? `counter/${key}/add`
    : chance.pick(SENDABLE);
  const delayMs = chance.pick([0, 0, 30, 600]);
  const body = { do: "send", to, program: program(chance, to, depth - 1) } as const;
  return delayMs === 0 ? body : { ...body, delayMs };
}

/** What a program adds to its object when it runs once, up to where it ends. */
export function added(ops: Program): number {
  const end = ops.findIndex((one) => one.do === "fail");
  const run = end < 0 ? ops : ops.slice(0, end);
  return run.filter((one) => one.do === "add").length;
}
