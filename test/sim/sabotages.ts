import type { Faults, Limits } from "./faults.ts";

/** A text in a file under `src`, which must occur exactly once, and what takes its place. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** One way to break the server on purpose. */
export interface Sabotage extends Patch {
  /** What is broken. */
  readonly name: string;
  /** A second text, where one is not enough. */
  readonly also?: Omit<Patch, "file">;
  /** Circumstances without which it is too rare to be seen in a few seeds. */
  readonly under?: Partial<Faults & Limits>;
}

/** Reads take long, commits do not, and nothing stays in memory. */
const COLD = {
  loadMs: 20,
  commitMs: 20,
  residentBytesMax: 0,
  turnEventsMax: 1,
  eagerStateBytesMax: 0,
};
/** The partition often fails and its boot takes long. */
const RESTARTS = { loadMs: 300, commitMs: 2, batchLost: 0.1, readLost: 0.2, clockStepMs: 0 };

const engine: readonly Sabotage[] = [
  {
    name: "repeated frames are applied again",
    file: "engine/journal/heard.ts",
    find: "const known = row.heard - event.first;",
    replace: "const known = 0;",
  },
  {
    name: "a stale stream may append",
    file: "engine/journal/heard.ts",
    find: 'if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;',
    replace: 'if (row?.status.kind !== "invoked") return;',
  },
  {
    name: "a stale stream may end an attempt",
    file: "engine/lifecycle/attempt_ended.ts",
    find: 'if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;',
    replace: 'if (row?.status.kind !== "invoked") return;',
  },
  {
    name: "news that crossed the suspension is lost",
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
    name: "an attempt that ends without an output completes",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "if (answer) return complete(turn, draft, answer.failure);",
    replace: "if (answer || draft.journal > 1) return complete(turn, draft, answer?.failure);",
  },
  {
    name: "the lock is never passed on",
    file: "engine/lifecycle/completed.ts",
    find: "  passOn(turn, draft.target);\n",
    replace: "",
  },
  {
    name: "the lock is dropped although somebody waits",
    file: "engine/lifecycle/completed.ts",
    find: "for (let { head } = lock; head < lock.tail; head++) {",
    replace: "for (let { head } = lock; head < lock.tail - 1; head++) {",
  },
  {
    name: "whoever came last is served first",
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
    name: "callers are not told",
    file: "engine/lifecycle/completed.ts",
    find: "for (const caller of callers) completed(turn, caller, result);",
    replace: "",
  },
  {
    name: "only the first caller is told",
    file: "engine/lifecycle/completed.ts",
    find: "for (const caller of callers) completed",
    replace: "for (const caller of callers.slice(0, 1)) completed",
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
    find: "if (known && !isOver(turn, known)) return repeated(turn, known, event);",
    replace: "",
  },
  {
    name: "a second caller is not remembered",
    file: "engine/lifecycle/invoked.ts",
    find: "else attach(turn, known.id, caller);",
    replace: "",
  },
  {
    name: "a delayed send starts at once",
    file: "engine/lifecycle/invoked.ts",
    find: "if (startAt !== undefined && startAt > turn.now) {",
    replace: "if (startAt !== undefined && startAt > Infinity) {",
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
    find: 'if (row?.status.kind === "invoked") wake(turn, turn.draft({ ...row }));',
    replace: "void row;",
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
    file: "engine/lifecycle/timer_fired.ts",
    find: '  turn.drop("timer", timer);\n',
    replace: "",
  },
  {
    name: "a timer whose row is gone fires",
    file: "engine/lifecycle/timer_fired.ts",
    find: "  if (!timer) return;\n",
    replace:
      "  if (!timer) return void (event.kind === 'sleep' && notify(turn, event.id, { kind: " +
      "'notification', type: entryType.sleepCompletion, id: { kind: 'completion', id: " +
      "event.index }, result: { kind: 'void' } }));\n",
  },
  {
    name: "a timer fires before it is due",
    file: "engine/lifecycle/timer_fired.ts",
    find: 'if (turn.now < timer.due) return turn.emit({ type: "wake", ...timer });',
    replace: "",
    under: { falseAlarm: 0.7 },
  },
  {
    name: "a timer that came too early is forgotten",
    file: "engine/lifecycle/timer_fired.ts",
    find: 'if (turn.now < timer.due) return turn.emit({ type: "wake", ...timer });',
    replace: "if (turn.now < timer.due) return;",
    under: { loadMs: 300, clockStepMs: 5_000 },
  },
  {
    name: "a notification wakes nobody",
    file: "engine/journal/notification.ts",
    find: "    wake(turn, draft);\n",
    replace: "",
  },
  {
    name: "any notification wakes",
    file: "engine/journal/notification.ts",
    find: 'if (draft.status.kind === "suspended" && isAwaited(draft.status.awaiting, entry.id)) {',
    replace: 'if (draft.status.kind !== "completed") {',
  },
  {
    name: "a running attempt does not hear its news",
    file: "engine/journal/notification.ts",
    find: 'turn.emit({ type: "notify", id, attempt, index, entry });',
    replace: "void attempt;",
  },
  {
    name: "the place of an entry is not counted",
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
    file: "engine/journal/heard.ts",
    find: 'turn.emit({ type: "abort", id: draft.id, attempt: draft.attempt });',
    replace: "",
  },
  {
    name: "what comes after a refused command is kept",
    file: "engine/journal/heard.ts",
    find: "if (refusal) return refuse(turn, draft, refusal);",
    replace: "if (refusal) refuse(turn, draft, refusal);",
  },
  {
    name: "a call runs twice",
    file: "engine/journal/call.ts",
    find: "  deliver(turn, { ...asked, caller });\n",
    replace: "  deliver(turn, { ...asked, caller });\n" +
      "  deliver(turn, { ...asked, id: asked.id + 'x' });\n",
  },
  {
    name: "a call is lost",
    file: "engine/journal/call.ts",
    find: "  deliver(turn, { ...asked, caller });\n",
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
    name: "results are forgotten too early",
    file: "engine/lifecycle/expired.ts",
    find: "if (row.expiresAt === undefined || turn.now < row.expiresAt) return;",
    replace: "",
  },
  {
    name: "expired invocations stay",
    file: "engine/lifecycle/expired.ts",
    find: "if (isOver(turn, row)) return forgetWhole(turn, draft);",
    replace: "if (isOver(turn, row)) return forgetJournal(turn, draft);",
  },
  {
    name: "a turn ignores its own writes",
    file: "engine/turn.ts",
    find: "if (write) return write.drop ? undefined : write.row as Rows[T];",
    replace: "if (write?.drop) return undefined;",
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
  {
    name: "one failure too many is retried",
    file: "engine/lifecycle/attempt_ended.ts",
    find: "++draft.failures >= policy.maxAttempts",
    replace: "++draft.failures > policy.maxAttempts",
  },
];

const partition: readonly Sabotage[] = [
  {
    name: "effects are released before their commit",
    file: "partition/commits.ts",
    find: "    this.#isInFlight = true;\n",
    replace: "    this.#isInFlight = true;\n    this.#options.release(group.effects.splice(0));\n",
  },
  {
    name: "commits overtake each other",
    file: "partition/commits.ts",
    find: "if (!group || this.#isInFlight || this.#isStopped) return;",
    replace: "if (!group || this.#isStopped) return;",
    also: {
      find: "if (this.#isInFlight || this.#isLingering || this.#isStopped) return;",
      replace: "if (this.#isLingering || this.#isStopped) return;",
    },
  },
  {
    name: "what a failed commit asked for is released",
    file: "partition/commits.ts",
    find: "if (!this.#isStopped) this.#options.onFailure(cause);",
    replace:
      "this.#settled(group, number);\n      if (!this.#isStopped) this.#options.onFailure(cause);",
  },
  {
    name: "a failed commit is shrugged off",
    file: "partition/commits.ts",
    find: "if (!this.#isStopped) this.#options.onFailure(cause);",
    replace: "this.#isInFlight = false;",
    under: { batchLost: 0.3 },
  },
  {
    name: "a stopped partition still releases",
    file: "partition/commits.ts",
    find: "        if (this.#isStopped) return;\n",
    replace: "",
  },
  {
    name: "memory keeps a dropped row",
    file: "partition/resident.ts",
    find: "if (!drop) this.#set(group, item, row);",
    replace: "if (!drop || !group.isWhole) this.#set(group, item, row);",
  },
  {
    name: "memory forgets what is not durable",
    file: "partition/resident.ts",
    find: "return commit <= this.#durable && commit <= this.#visible;",
    replace: "return commit <= Infinity;",
    under: COLD,
  },
  {
    name: "memory forgets what a load does not see",
    file: "partition/resident.ts",
    find: "return commit <= this.#durable && commit <= this.#visible;",
    replace: "return commit <= this.#durable;",
    under: COLD,
  },
  {
    name: "what is loaded replaces what is newer",
    file: "partition/resident.ts",
    find: "if (!group.rows.has(at)) this.#set(group, at, row);",
    replace: "this.#set(group, at, row);",
    under: COLD,
  },
  {
    name: "a part of a group passes for the whole",
    file: "partition/resident.ts",
    find: "if (item === undefined) group.isWhole = true;",
    replace: "group.isWhole = true;\n      if (item === undefined) continue;",
    under: COLD,
  },
  {
    name: "events of an abandoned turn are lost",
    file: "partition/partition.ts",
    find: "        this.#attempt(mail, now);\n      })",
    replace: "        this.#attempt(mail.slice(1), now);\n      })",
  },
  {
    name: "a turn that missed a row is kept",
    file: "partition/partition.ts",
    find: "if (wants.length === 0) return this.#finish(turn, mail);",
    replace: "if (wants.length === 0 || mail.length > 1) return this.#finish(turn, mail);",
  },
  {
    name: "a bare turn may break the partition",
    file: "partition/partition.ts",
    find: "if (cause !== miss && !isBare) throw cause;",
    replace: "if (cause !== miss) throw cause;",
  },
  {
    name: "what no turn has room for is lost",
    file: "partition/partition.ts",
    find: "all.length <= turnEventsMax ? [] : all.slice(turnEventsMax);",
    replace: "[];",
  },
  {
    name: "the lease is claimed after the first load",
    file: "partition/host.ts",
    find: "    const lease = await store.claim(partition);\n",
    replace: "    const lost = await this.#lost({ partition, epoch: 0 });\n" +
      "    const lease = await store.claim(partition);\n",
    also: { find: "    const lost = await this.#lost(lease);\n", replace: "" },
    under: { secondOwner: true, crash: 0, commitMs: 20, loadMs: 300, residentBytesMax: 1e9 },
  },
  {
    name: "a boot lets things start before it knows what was lost",
    file: "partition/host.ts",
    find: "    const lost = await this.#lost(lease);\n",
    replace: "",
    also: {
      find: 'for (const id of lost) life.partition.send({ type: "recovered", id });',
      replace:
        'for (const id of await this.#lost(lease)) life.partition.send({ type: "recovered", ' +
        "id });",
    },
    under: RESTARTS,
  },
  {
    name: "who waits for a failed partition is not told",
    file: "partition/host.ts",
    find: "    this.#end(life);\n    this.#waiters.fail(unavailable());\n    this.#restart();",
    replace: "    this.#end(life);\n    this.#restart();",
  },
  {
    name: "who waits for a partition that cannot start is not told",
    file: "partition/host.ts",
    find: "      this.#waiters.fail(unavailable());\n      throw cause;",
    replace: "      throw cause;",
    under: RESTARTS,
  },
  {
    name: "who was answered at once is remembered for ever",
    file: "partition/host.ts",
    find: "    answer.then(forget, forget);\n",
    replace: "",
  },
  {
    name: "attempts outlive their partition",
    file: "partition/host.ts",
    find: "    life.attempts.close();\n",
    replace: "",
  },
  {
    name: "a failed partition stays down",
    file: "partition/host.ts",
    find: "    this.#restart();\n  }\n\n  #end",
    replace: "  }\n\n  #end",
  },
  {
    name: "nobody looks for what expired",
    file: "partition/host.ts",
    find: "    life.sweeper.start();\n",
    replace: "",
  },
  {
    name: "the sweeper stops when the store does not answer",
    file: "partition/sweeper.ts",
    find: "        this.#later(everyMs);\n      });",
    replace: "      });",
    under: RESTARTS,
  },
  {
    name: "timers of the last process are not read",
    file: "partition/host.ts",
    find: "await life.timers.open();",
    replace: "await Promise.resolve();",
  },
  {
    name: "timers beyond the horizon are not fetched",
    file: "partition/timers.ts",
    find: "this.#refill().catch((cause) => this.#options.onFailure(cause));",
    replace: "",
  },
  {
    name: "an earlier timer does not move the alarm",
    file: "partition/timers.ts",
    find: "if (this.#alarm && this.#alarm.due <= first.due) return;",
    replace: "if (this.#alarm) return;",
    under: { timersMax: 1_000, clockStepMs: 0 },
  },
  {
    name: "a timer that comes while a page is on its way is dropped",
    file: "partition/timers.ts",
    find: "if (!this.#isLoading && this.#horizon && order(timer, this.#horizon) > 0) return;",
    replace: "if (this.#isLoading || (this.#horizon && order(timer, this.#horizon) > 0)) return;",
    under: { loadMs: 300, timersMax: 1, clockStepMs: 0 },
  },
];

export const SABOTAGES: readonly Sabotage[] = [...engine, ...partition];
