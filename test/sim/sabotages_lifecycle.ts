import type { Sabotage } from "./sabotage.ts";

/** Broken lives of invocations. */
export const SABOTAGES_LIFECYCLE: readonly Sabotage[] = [
  {
    name: "a stale stream may end an attempt",
    file: "engine/lifecycle/attempt_ended.ts",
    find: 'if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;',
    replace: 'if (row?.status.kind !== "invoked") return;',
  },
  {
    name: "a notification that crossed the suspension is lost",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "index < draft.journal; index++",
    replace: "index < 0; index++",
  },
  {
    name: "the watermark is one too high",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "let index = delivered;",
    replace: "let index = delivered + 1;",
  },
  {
    name: "a back-off sets no timer",
    file: "engine/lifecycle/attempt_ended.ts",
    find: 'setTimer(turn, { id: draft.id, due: until, kind: "retry", index: 0 });',
    replace: "",
  },
  {
    name: "a failure after a new start counts as a repeat",
    file: "engine/lifecycle/started.ts",
    find: "  draft.lastFailure = undefined;\n",
    replace: "",
  },
  {
    name: "an attempt that ends without an output completes",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "if (answer) return complete(turn, draft, answer.failure);",
    replace: "if (answer || draft.journal > 1) return complete(turn, draft, answer?.failure);",
  },
  {
    name: "the lock is never passed on",
    file: "engine/lifecycle/completed.ts",
    find: "  handLockOver(turn, draft.target);\n",
    replace: "",
  },
  {
    name: "the lock is dropped although an invocation waits",
    file: "engine/lifecycle/completed.ts",
    find: "for (let { head } = lock; head < lock.tail; head++) {",
    replace: "for (let { head } = lock; head < lock.tail - 1; head++) {",
  },
  {
    name: "the last of the inbox is served first",
    file: "engine/lifecycle/completed.ts",
    find: 'const next = turn.find("inbox", object, head);',
    replace: 'const next = turn.find("inbox", object, lock.tail - 1 - (head - lock.head));',
  },
  {
    name: "a served inbox row stays",
    file: "engine/lifecycle/completed.ts",
    find: '    turn.drop("inbox", next);\n',
    replace: "",
  },
  {
    name: "callers get no result",
    file: "engine/lifecycle/completed.ts",
    find: "for (const caller of callers) deliver",
    replace: "for (const caller of callers.slice(0, 0)) deliver",
  },
  {
    name: "only the first caller gets the result",
    file: "engine/lifecycle/completed.ts",
    find: "for (const caller of callers) deliver",
    replace: "for (const caller of callers.slice(0, 1)) deliver",
  },
  {
    name: "timers outlive their invocation",
    file: "engine/lifecycle/completed.ts",
    find: 'for (const timer of turn.list("timer", draft.id)) turn.drop("timer", timer);',
    replace: "",
  },
  {
    name: "a known invocation is accepted again",
    file: "engine/lifecycle/invoked.ts",
    find: "if (known && !isExpired(turn, known)) return repeated(turn, known, event);",
    replace: "",
  },
  {
    name: "a second caller is not stored",
    file: "engine/lifecycle/invoked.ts",
    find: "else addCaller(turn, known.id, caller);",
    replace: "",
  },
  {
    name: "a delayed send starts at once",
    file: "engine/lifecycle/invoked.ts",
    find: "if (startAt === undefined || startAt <= turn.now) return",
    replace: "if (startAt === undefined || startAt <= Infinity) return",
  },
  {
    name: "an exclusive handler does not wait",
    file: "engine/lifecycle/invoked.ts",
    find: 'if (access !== "exclusive") return start(turn, draft);',
    replace: "return start(turn, draft);",
  },
  {
    name: "a new attempt has the number of the old one",
    file: "engine/lifecycle/started.ts",
    find: "  draft.attempt++;\n",
    replace: "  draft.attempt ||= 1;\n",
  },
  {
    name: "frames of the last attempt are counted on",
    file: "engine/lifecycle/started.ts",
    find: "  draft.heard = 0;\n",
    replace: "",
  },
  {
    name: "nothing is recovered",
    file: "engine/lifecycle/started.ts",
    find: "  else wake(turn, draft);",
    replace: "",
  },
  {
    name: "a free slot starts a new attempt",
    file: "engine/lifecycle/started.ts",
    find: "  turn.emit(snapshot(turn, row));",
    replace: "  start(turn, turn.draft({ ...row }));",
  },
  {
    name: "a free slot is not taken",
    file: "engine/lifecycle/started.ts",
    find: "  turn.emit(snapshot(turn, row));",
    replace: "",
  },
  {
    name: "a slot is offered to a stale attempt",
    file: "engine/lifecycle/started.ts",
    find: 'if (row?.status.kind !== "invoked" || row.attempt !== attempt) return;',
    replace: 'if (row?.status.kind !== "invoked") return;',
    under: { falseAlarm: 0.5 },
  },
  {
    name: "a cut state map claims to be whole",
    file: "engine/lifecycle/started.ts",
    find: "if (room < 0) return { partial: true, pairs };",
    replace: "if (room < 0) return { partial: false, pairs };",
  },
  {
    name: "a fired timer stays",
    file: "engine/lifecycle/timers.ts",
    find: '  turn.drop("timer", timer);\n',
    replace: "",
  },
  {
    name: "a timer whose row is gone fires",
    file: "engine/lifecycle/timers.ts",
    find: "  if (!timer) return;\n",
    replace:
      "  if (!timer) return void (event.kind === 'sleep' && notify(turn, event.id, { kind: " +
      "'notification', type: entryType.sleepCompletion, id: { kind: 'completion', id: " +
      "event.index }, result: { kind: 'void' } }));\n",
  },
  {
    name: "a timer fires before it is due",
    file: "engine/lifecycle/timers.ts",
    find: 'if (turn.now < timer.due) return turn.emit({ type: "armTimer", ...timer });',
    replace: "",
    under: { falseAlarm: 0.7 },
  },
  {
    name: "a timer that fired too early is dropped",
    file: "engine/lifecycle/timers.ts",
    find: 'if (turn.now < timer.due) return turn.emit({ type: "armTimer", ...timer });',
    replace: "if (turn.now < timer.due) return;",
    under: { loadMs: 300, clockStepMs: 5_000 },
  },
  {
    name: "results are deleted too early",
    file: "engine/lifecycle/expired.ts",
    find: "if (row.expiresAt === undefined || turn.now < row.expiresAt) return;",
    replace: "",
  },
  {
    name: "expired invocations stay",
    file: "engine/lifecycle/expired.ts",
    find: "if (isExpired(turn, row)) return forgetRetained(turn, draft);",
    replace: "if (isExpired(turn, row)) return forgetJournal(turn, draft);",
  },
  {
    name: "one failure too many is retried",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "++draft.failures >= policy.maxAttempts",
    replace: "++draft.failures > policy.maxAttempts",
  },
];
