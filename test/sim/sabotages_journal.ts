import type { Sabotage } from "./sabotage.ts";

/** Broken commands, turns and journals. */
export const SABOTAGES_JOURNAL: readonly Sabotage[] = [
  {
    name: "repeated frames are applied again",
    file: "engine/journal/frames_received.ts",
    find: "const known = row.heard - event.first;",
    replace: "const known = 0;",
  },
  {
    name: "a stale stream may append",
    file: "engine/journal/frames_received.ts",
    find: 'if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;',
    replace: 'if (row?.status.kind !== "invoked") return;',
  },
  {
    name: "a notification does not wake",
    file: "engine/journal/notification.ts",
    find: "if (!awaiting) wake(turn, draft);",
    replace: "if (!awaiting) return;",
  },
  {
    name: "any notification wakes",
    file: "engine/journal/notification.ts",
    find: "const awaiting = afterNotification(draft.status.awaiting, entry.id, entry.result);",
    replace:
      "const awaiting = afterNotification === undefined ? draft.status.awaiting : undefined;",
  },
  {
    name: "a running attempt gets no notifications",
    file: "engine/journal/notification.ts",
    find: 'turn.emit({ type: "notify", id, attempt, index, entry });',
    replace: "void attempt;",
  },
  {
    name: "the index of an entry is not counted",
    file: "engine/journal/notification.ts",
    find: "  draft.journal++;\n",
    replace: '  if (entry.kind !== "notification") draft.journal++;\n',
  },
  {
    name: "a sleep completes at once",
    file: "engine/journal/sleep.ts",
    find: "if (wakeAt > turn.now) {",
    replace: "if (wakeAt > turn.now + 300) {",
  },
  {
    name: "a refused attempt goes on",
    file: "engine/journal/frames_received.ts",
    find: 'turn.emit({ type: "abort", id: draft.id, attempt: draft.attempt });',
    replace: "",
  },
  {
    name: "commands after a refused one are kept",
    file: "engine/journal/frames_received.ts",
    find: "if (refusal) return refuse(",
    replace: "if (refusal) refuse(",
  },
  {
    name: "a call runs twice",
    file: "engine/journal/call.ts",
    find: "  deliver(turn, { ...invoked, caller });\n",
    replace: "  deliver(turn, { ...invoked, caller });\n" +
      "  deliver(turn, { ...invoked, id: invoked.id + 'x' });\n",
  },
  {
    name: "a call is lost",
    file: "engine/journal/call.ts",
    find: "  deliver(turn, { ...invoked, caller });\n",
    replace: "",
  },
  {
    name: "all state is cleared but one",
    file: "engine/journal/state.ts",
    find: 'for (const row of turn.list("state", object)) turn.drop("state", row);',
    replace: 'for (const row of turn.list("state", object).slice(1)) turn.drop("state", row);',
  },
  {
    name: "cleared state stays",
    file: "engine/journal/state.ts",
    find: '      turn.drop("state", { object, name: frame.key, value: NOTHING });\n',
    replace: "",
  },
  {
    name: "a turn ignores its own writes",
    file: "engine/turn.ts",
    find: "if (write) return write.drop ? null : write.row as Rows[T];",
    replace: "if (write?.drop) return null;",
  },
  {
    name: "a list ignores what the turn dropped",
    file: "engine/turn.ts",
    find: "if (!written?.items.has(itemOf(table, row))) rows.push(row);",
    replace: "if (written?.items.get(itemOf(table, row))?.drop !== false) rows.push(row);",
    under: { eagerStateBytesMax: 0, turnEventsMax: 1_000 },
  },
  {
    name: "two calls of one event get the same id",
    file: "engine/journal/call.ts",
    find: "entropyOf(event.entropy, number)",
    replace: "entropyOf(event.entropy, number * 0)",
  },
];
