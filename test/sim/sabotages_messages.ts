import type { Sabotage } from "./sabotage.ts";

/** Broken promises, signals, answers, waits and retention. */
export const SABOTAGES_MESSAGES: readonly Sabotage[] = [
  {
    name: "a promise is completed twice",
    file: "engine/journal/promise.ts",
    find: "if (known?.result) return append(turn, draft, completion(caller, COMPLETED));",
    replace: "void COMPLETED;",
  },
  {
    name: "a listener gets no result",
    file: "engine/journal/promise.ts",
    find: "for (const listener of listeners) {",
    replace: "for (const listener of listeners.slice(1)) {",
  },
  {
    name: "a second listener replaces the first",
    file: "engine/journal/promise.ts",
    find: "[...known?.listeners ?? [], caller]",
    replace: "[caller]",
  },
  {
    name: "a peek never sees a promise",
    file: "engine/journal/promise.ts",
    find: 'turn.find("promise", object, frame.key)?.result ?? OPEN',
    replace: "OPEN",
  },
  {
    name: "a completed promise is awaited",
    file: "engine/journal/promise.ts",
    find: "if (known?.result) return append(turn, draft, completion(caller, known.result));",
    replace: "",
  },
  {
    name: "completing a promise has no completion",
    file: "engine/journal/promise.ts",
    find: "  append(turn, draft, completion(caller, OPEN));\n",
    replace: "",
  },
  {
    name: "an attach does not wait",
    file: "engine/journal/attach.ts",
    find: 'wait: kind === "attach"',
    replace: "wait: false",
  },
  {
    name: "an attach is not stored",
    file: "engine/journal/attach.ts",
    find: '  append(turn, draft, { kind: "command", type: entryType[kind], bytes });\n',
    replace: "  void append;\n",
  },
  {
    name: "signals are stored and not sent",
    file: "engine/journal/signal.ts",
    find: "if (frame.signal) deliver",
    replace: "if (!frame.signal) deliver",
  },
  {
    name: "signals are sent and not stored",
    file: "engine/journal/signal.ts",
    find:
      '  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });\n',
    replace: "  void [append, entryType, draft];\n",
  },
  {
    name: "an arrived notification is still awaited",
    file: "engine/journal/notification.ts",
    find: "else if (awaiting !== draft.status.awaiting) {",
    replace: "else if (!awaiting) {",
  },
  {
    name: "a failure ends an any",
    file: "model/awaiting.ts",
    find: 'child === "failure" ? undefined : child;',
    replace: "child;",
  },
  {
    name: "a failure does not end an all",
    file: "model/awaiting.ts",
    find: 'child === "success" ? undefined : child;',
    replace: "undefined;",
  },
  {
    name: "the first is not enough",
    file: "model/awaiting.ts",
    find: '    case "first":\n      return child;',
    replace: '    case "first":\n      return undefined;',
  },
  {
    name: "one of all is enough",
    file: "model/awaiting.ts",
    find: '    case "allCompleted":\n      return undefined;',
    replace: '    case "allCompleted":\n      return child;',
  },
  {
    name: "state outlives its workflow",
    file: "engine/retention.ts",
    find: '  for (const row of turn.list("state", object)) turn.drop("state", row);\n',
    replace: "",
  },
  {
    name: "promises outlive their workflow",
    file: "engine/retention.ts",
    find: "if (row.result || row.listeners.length === 0) turn.drop",
    replace: "if (!row.result && row.listeners.length === 0) turn.drop",
  },
  {
    name: "a promise is deleted with its listeners",
    file: "engine/retention.ts",
    find: "if (row.result || row.listeners.length === 0) turn.drop",
    replace: "turn.drop",
    // Where less goes wrong, more workflows end while somebody waits for their promises.
    under: {
      crash: 0,
      batchLost: 0,
      ackLost: 0,
      readLost: 0,
      streamLost: 0,
      secondOwner: false,
      isControlled: false,
    },
  },
  {
    name: "journals are kept for ever",
    file: "engine/retention.ts",
    find: "  forgetJournal(turn, draft);\n  turn.forget(draft);",
    replace: "  turn.forget(draft);",
  },
  {
    name: "events are kept for ever",
    file: "engine/retention.ts",
    find: "  forgetEvents(turn, draft);\n",
    replace: "  void forgetEvents;\n",
  },
  {
    name: "the journal is not kept",
    file: "engine/retention.ts",
    find: "if (journalMs <= 0) forgetJournal",
    replace: "if (journalMs <= 1_000_000) forgetJournal",
  },
  {
    name: "a result goes to a later invocation of the same id",
    file: "engine/journal/notification.ts",
    find: "if (caller.since !== undefined && row?.createdAt !== caller.since) return;",
    replace: "void row;",
  },
  {
    name: "a result that is replied at once is not kept",
    file: "partition/waiters.ts",
    find: "    this.#replies.get(effect.reply)?.resolve(effect);\n",
    replace: "    if (!effect.result) this.#replies.get(effect.reply)?.resolve(effect);\n",
  },
];
