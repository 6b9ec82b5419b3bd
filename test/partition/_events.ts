import fc from "fast-check";
import type { Event, Operation, Outcome } from "../../src/engine/event.ts";
import type { Command } from "../../src/model/command.ts";
import { targetOf } from "../support/schema.ts";

/** An event for one of a few invocations. Not every one is possible in its state. */
export type Happening = (view: View) => Event;

/** What a generator may read, so that its events sometimes fit the rows. */
export interface View {
  readonly now: number;
  /** Ids of the existing invocations. */
  readonly ids: readonly string[];
  readonly attempt: (id: string) => number;
  readonly heard: (id: string) => number;
  readonly timer: (
    id: string,
  ) =>
    | { readonly due: number; readonly kind: "start" | "retry" | "sleep"; readonly index: number }
    | undefined;
}

const NOTHING = new Uint8Array(0);
const bytes = (text: string) => new TextEncoder().encode(text);
const ids = fc.constantFrom("i1", "i2");
const targets = fc.constantFrom(
  "greeter/hi",
  "counter/a/add",
  "counter/a/add",
  "counter/a/peek",
  "flow/w/run",
  "fragile/kill",
);

const invoked: fc.Arbitrary<Happening> = fc.record({
  id: ids,
  path: targets,
  keepMs: fc.constantFrom(0, 50, 1_000),
  delayMs: fc.constantFrom(0, 0, 40),
}).map(({ id, path, keepMs, delayMs }) => ({ now }) => ({
  type: "invoked",
  // One id, one target: else an id would stand for two things.
  id: `${id}:${path}`,
  fresh: false,
  target: targetOf(path),
  headers: [],
  value: bytes("in"),
  origin: { by: "ingress" },
  retention: { resultMs: keepMs, journalMs: keepMs },
  reply: 1,
  ...(delayMs > 0 ? { startAt: now + delayMs } : {}),
}));

/** The id of an existing invocation, or another one. */
const known = fc.nat(50).map((pick) => ({ ids }: View) =>
  pick === 0 ? "nobody" : ids[pick % ids.length] ?? "nobody"
);
const completion = fc.integer({ min: 1, max: 12 });

const frame: fc.Arbitrary<Command> = fc.oneof(
  completion.map((completion) => ({ kind: "run", bytes: bytes("run"), completion }) as const),
  completion.map((completion) =>
    ({ kind: "runCompletion", completion, result: { kind: "value", value: bytes("x") } }) as const
  ),
  completion.map((completion) =>
    ({ kind: "sleep", bytes: bytes("sleep"), completion, wakeAt: 1_000 + 60 * completion }) as const
  ),
  fc.constantFrom("m", "n").map((key) =>
    ({ kind: "setState", bytes: bytes("set"), key, value: bytes(key) }) as const
  ),
  fc.constant({ kind: "clearAllState", bytes: bytes("clear") } as const),
  completion.map((completion) =>
    ({ kind: "getLazyState", bytes: bytes("get"), completion, key: "m" }) as const
  ),
  completion.map((completion) =>
    ({ kind: "getLazyStateKeys", bytes: bytes("keys"), completion }) as const
  ),
  fc.tuple(completion, fc.constantFrom("greeter/hi", "counter/b/add", "flow/w/run", "no/such"))
    .map(([completion, path]) => call(completion, path)),
  fc.constant(
    { kind: "output", bytes: bytes("out"), result: { kind: "value", value: NOTHING } } as const,
  ),
);

function call(completion: number, path: string): Command {
  const parts = path.split("/");
  const request = {
    service: parts[0] ?? "",
    handler: parts.at(-1) ?? "",
    key: parts.length === 3 ? parts[1] ?? "" : "",
    headers: [],
    value: NOTHING,
  };
  const ids = { invocationIdCompletion: 100 + completion, completion };
  return { kind: "call", bytes: bytes("call"), ...ids, request };
}

const promiseKey = fc.constantFrom("p", "q");

/** Commands that may concern another invocation, or a promise. */
const rare: fc.Arbitrary<(id: string) => Command> = fc.oneof(
  fc.tuple(completion, promiseKey).map(([completion, key]) => () =>
    ({ kind: "getPromise", bytes: bytes("get"), key, completion }) as const
  ),
  fc.tuple(completion, promiseKey).map(([completion, key]) => () =>
    ({
      kind: "completePromise",
      bytes: bytes("keep"),
      key,
      completion,
      result: { kind: "value", value: bytes("v") },
    }) as const
  ),
  fc.constantFrom(1, 17).map((index) => (target: string) =>
    ({
      kind: "sendSignal",
      bytes: bytes("tell"),
      signal: { target, id: { kind: "signal", index }, result: { kind: "void" } },
    }) as const
  ),
  fc.tuple(completion, fc.constantFrom("attach" as const, "getOutput" as const)).map((
    [completion, kind],
  ) =>
  (id: string) =>
    ({ kind, bytes: bytes(kind), completion, subject: { by: "invocation", id } }) as const
  ),
);

const heard: fc.Arbitrary<Happening> = fc.record({
  pick: known,
  whom: known,
  rares: fc.array(rare, { maxLength: 2 }),
  frames: fc.array(frame, { minLength: 1, maxLength: 4 }),
  overlap: fc.nat(2),
  entropy: fc.uint8Array({ minLength: 16, maxLength: 16 }),
}).map(({ pick, whom, rares, frames: common, overlap, entropy }) => (view) => {
  const id = pick(view);
  const frames = [...rares.map((rare) => rare(whom(view))), ...common];
  const attempt = view.attempt(id), first = Math.max(0, view.heard(id) - overlap);
  const pin = { deployment: "dp_1", protocol: 6 };
  return { type: "framesReceived", id, attempt, first, frames, pin, entropy };
});

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constant({ kind: "ended" } as const),
  fc.tuple(completion, fc.nat(3)).map(([one, delivered]) =>
    ({
      kind: "suspended",
      awaiting: {
        kind: delivered === 2 ? "allCompleted" : "unknown",
        completions: [one, one + 1],
        signals: [1],
        names: [],
      },
      delivered,
    }) as const
  ),
  fc.constant(
    {
      kind: "failed",
      failure: { code: "RT0007", status: 500, message: "x" },
      reached: true,
    } as const,
  ),
);

const ended: fc.Arbitrary<Happening> = fc.record({
  pick: known,
  outcome: outcomes,
  stale: fc.constantFrom(0, 0, 0, 1),
}).map(({ pick, outcome, stale }) => (view) => {
  const id = pick(view);
  return { type: "attemptEnded", id, attempt: view.attempt(id) - stale, outcome, jitter: 0.5 };
});

const fired: fc.Arbitrary<Happening> = known.map((pick) => (view) => {
  const id = pick(view);
  return { ...view.timer(id) ?? { due: 0, kind: "sleep", index: 0 }, type: "timerFired", id };
});

const other: fc.Arbitrary<Happening> = fc.record({
  pick: known,
  type: fc.constantFrom("recovered", "slotFree", "expired"),
}).map(({ pick, type }) => (view) => {
  const id = pick(view);
  return type === "slotFree" ? { type, id, attempt: view.attempt(id) } : { type, id };
});

const signaled: fc.Arbitrary<Happening> = fc.record({
  pick: known,
  index: fc.constantFrom(1, 17, 18),
}).map(({ pick, index }) => (view) => ({
  type: "signaled",
  signal: {
    target: pick(view),
    id: { kind: "signal", index },
    result: { kind: "value", value: NOTHING },
  },
  reply: 1,
}));

const asked: fc.Arbitrary<Happening> = fc.record({ pick: known, wait: fc.boolean() })
  .map(({ pick, wait }) => (view) => ({ type: "asked", id: pick(view), wait, reply: 1 }));

const operations: fc.Arbitrary<Operation> = fc.oneof(
  fc.constantFrom("cancel", "kill", "pause", "resume", "purge", "purgeJournal").map((kind) =>
    ({ kind }) as const
  ),
  fc.nat(3).map((from) => ({ kind: "restart", newId: "", from }) as const),
);

const operated: fc.Arbitrary<Happening> = fc.record({ pick: known, operation: operations })
  .map(({ pick, operation }) => (view) => ({
    type: "operated",
    id: pick(view),
    operation: operation.kind === "restart" ? { ...operation, newId: freshId() } : operation,
    reply: 1,
  }));

let drawn = 0;

/** The id of a new invocation is unique. */
function freshId(): string {
  return `new${++drawn}`;
}

/** A history of up to sixty happenings, each some time after the one before. */
export const histories = fc.array(
  fc.tuple(
    fc.constantFrom(0, 1, 30, 600),
    fc.oneof(
      { weight: 4, arbitrary: invoked },
      { weight: 8, arbitrary: heard },
      { weight: 6, arbitrary: ended },
      { weight: 4, arbitrary: fired },
      { weight: 2, arbitrary: other },
      { weight: 1, arbitrary: signaled },
      { weight: 1, arbitrary: asked },
      { weight: 3, arbitrary: operated },
    ),
  ),
  { maxLength: 60, size: "max" },
);
