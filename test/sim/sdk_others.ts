import type { Subject } from "../../src/model/command.ts";
import type { Result } from "../../src/model/journal.ts";
import { idOf } from "../../src/model/subject.ts";
import type { Op } from "./program.ts";
import type { Replay } from "./replay.ts";
import type { Outside } from "./sdk.ts";
import { asked, plain } from "./sdk_words.ts";
import { bytesOf } from "./spoken.ts";

/** Calls a handler; answers with the completions of the call. */
export function call(
  replay: Replay,
  { to, program, idempotencyKey }: Op & { do: "call" },
): { completion: number; invocationId: number } {
  const invocationId = replay.nextCompletion(), completion = replay.nextCompletion();
  const request = asked(to, program, idempotencyKey);
  replay.say(`call ${to} ${completion}`, { completion, invocationId }, (bytes) => ({
    kind: "call",
    bytes,
    invocationIdCompletion: invocationId,
    completion,
    request,
  }));
  return { completion, invocationId };
}

/** Sends to a handler; answers with the completion that tells its id. */
export function send(
  replay: Replay,
  { to, program, delayMs, idempotencyKey }: Op & { do: "send" },
  { now }: Outside,
): number {
  const invocationId = replay.nextCompletion();
  const startAt = delayMs === undefined ? 0 : now() + delayMs;
  const request = asked(to, program, idempotencyKey);
  replay.say(`send ${to} ${invocationId}`, { x: startAt, invocationId }, (bytes) => ({
    kind: "oneWayCall",
    bytes,
    invocationIdCompletion: invocationId,
    startAt,
    request,
  }));
  return invocationId;
}

/** Waits for a promise of the workflow, or looks at it. Returns the completion. */
export function promise(replay: Replay, op: Op & { do: "promise" | "peek" }): number {
  const completion = replay.nextCompletion(), key = op.name;
  const kind = op.do === "promise" ? "getPromise" : "peekPromise";
  replay.say(
    `${kind} ${key} ${completion}`,
    { completion, key },
    (bytes) => ({ kind, bytes, key, completion }),
  );
  return completion;
}

/** Keeps a promise of the workflow, or breaks it. Returns the completion. */
export function completePromise(
  replay: Replay,
  { name: key, isBroken }: Op & { do: "keep" },
  { chance }: Outside,
): number {
  const completion = replay.nextCompletion();
  const result = resultOf(`${replay.digest}/${chance()}`, isBroken);
  const value = JSON.stringify(plain(result));
  replay.say(
    `keep ${key} ${completion}`,
    { completion, key, value },
    (bytes) => ({ kind: "completePromise", bytes, key, result, completion }),
  );
  return completion;
}

/** What a command about another invocation needs. */
interface About {
  /** Whom this handler called last. */
  readonly callee: string | undefined;
  readonly outside: Outside;
}

/** Sends a signal to whom the program names. */
export function signal(
  replay: Replay,
  op: Op & { do: "signal" },
  { callee, outside }: About,
): void {
  const luck = outside.chance();
  const target = op.to === "callee" ? callee : outside.idOf(op.to);
  if (target === undefined) return;
  const text = `${replay.digest}/${luck}`;
  replay.say(`signal ${op.to} ${JSON.stringify(op.id)}`, { target, x: text }, (bytes) => ({
    kind: op.id.kind === "signal" ? "completeAwakeable" : "sendSignal",
    bytes,
    signal: { target, id: op.id, result: resultOf(text, op.isBroken) },
  }));
}

/** Asks for the result of an invocation, waiting for it or not. Returns the completion. */
export function relate(
  replay: Replay,
  { to, wait }: Op & { do: "attach" },
  { callee, outside }: About,
): number {
  const completion = replay.nextCompletion();
  const subject: Subject = typeof to === "object"
    ? to
    : { by: "invocation", id: (to === "callee" && callee) || outside.idOf(to) };
  const kind = wait ? "attach" : "getOutput";
  replay.say(
    `${kind} ${JSON.stringify(to)} ${completion}`,
    { completion, target: idOf(subject) },
    (bytes) => ({ kind, bytes, subject, completion }),
  );
  return completion;
}

function resultOf(text: string, isBroken: boolean | undefined): Result {
  return isBroken
    ? { kind: "failure", failure: { code: 500, message: text } }
    : { kind: "value", value: bytesOf(text) };
}
