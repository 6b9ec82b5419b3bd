import type {
  AttemptEnded,
  DeploymentChoice,
  Event,
  Operation,
  Outcome,
} from "../../src/engine/event.ts";
import type { Command, Signal } from "../../src/model/command.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import { stateVersion } from "../../src/model/state_edit.ts";
import { parseObject } from "../../src/model/target.ts";
import { targetOf } from "../support/schema.ts";
import { records } from "./_script_records.ts";

const NOTHING = new Uint8Array(0);
const bytes = (value: string) => new TextEncoder().encode(value);

/** What one line of a script says happened, in words: see `transcript`. */
export function parse([verb, subject = "", ...rest]: string[]): Event {
  const [id = "", attempt] = subject.split("#");
  switch (verb) {
    case "invoke":
      return invoked(id, rest);
    case "hear":
      return heard(id, Number(attempt), rest);
    case "end":
      return {
        type: "attemptEnded",
        id,
        attempt: Number(attempt),
        outcome: outcome(rest[0] ?? ""),
        jitter: 0,
        ...site(rest[1]),
      };
    case "timer": {
      const [due, kind, index] = (rest[0] ?? "").split("/");
      return {
        type: "timerFired",
        id,
        due: Number(due),
        kind: kind as "start",
        index: Number(index),
      };
    }
    case "recover":
      return { type: "recovered", id };
    case "slot":
      return { type: "slotFree", id, attempt: Number(attempt) };
    case "expire":
      return { type: "expired", id };
    case "bucket":
      return { type: "bucketFull", id };
    default:
      return fromOutside([verb ?? "", id, ...rest]);
  }
}

/** What people and other programs ask for. */
function fromOutside([verb, id = "", ...rest]: string[]): Event {
  switch (verb) {
    case "ask":
      return { type: "asked", id, wait: rest[0] === "wait", reply: 1 };
    case "signal":
      return { type: "signaled", signal: signal([id, ...(rest[0] ?? "").split(":")]), reply: 1 };
    case "edit":
      return edited(id, rest);
    case "records":
      return records(id, rest);
    case "letter":
      return letter(id, rest[0]);
    case "complete":
      return completed(id, rest);
    case "operate":
      return { type: "operated", id, operation: operation(rest), reply: 1 };
    default:
      throw new Error(`Unknown verb ${verb}`);
  }
}

/** `letter r0` asks for one, `letter r0 written=2`: that of the second attempt is written. */
function letter(id: string, word: string | undefined): Event {
  const written = word === undefined ? {} : { written: Number(word.slice("written=".length)) };
  return { type: "letterAsked", id, ...written, reply: 1 };
}

/** `17` and `name`: by index and by name. `1` is the cancel signal. */
function signal([target = "", which = "", value]: string[]): Signal {
  const isIndex = /^\d+$/.test(which);
  return {
    target,
    id: isIndex ? { kind: "signal", index: Number(which) } : { kind: "named", name: which },
    result: value === undefined ? { kind: "void" } : { kind: "value", value: bytes(value) },
  };
}

/** `counter/bob n=1 m=2`, and `if=n=0`: only while that is the state. */
function edited(name: string, words: string[]): Event {
  const object = parseObject(name);
  const pair = (word: string) => {
    const [name = "", value = ""] = word.split("=");
    return { name, value: bytes(value) };
  };
  const pairs = words.filter((word) => !word.startsWith("if=")).map(pair);
  const known = words.filter((word) => word.startsWith("if=")).map((word) => pair(word.slice(3)));
  const edit = known.length > 0 ? { pairs, version: stateVersion(known) } : { pairs };
  return { type: "stateEdited", object, edit, reply: 1 };
}

/** `w1 flow/a p=yes`, or `p!no` to reject it: a promise of the workflow whose run is `w1`. */
function completed(run: string, [object = "", word = ""]: string[]): Event {
  const [, name = "", how, text = ""] = /^(\w+)([=!])(.*)$/.exec(word) ?? [];
  const result = how === "="
    ? { kind: "value", value: bytes(text) } as const
    : { kind: "failure", failure: { code: 500, message: text } } as const;
  const promise = { object: parseObject(object), name, run };
  return { type: "promiseCompleted", promise, result, reply: 1 };
}

/** `cancel`, `resume latest`, `restart i9 from=2 keep`. */
function operation([kind = "", ...rest]: string[]): Operation {
  const from = rest.find((one) => one.startsWith("from="))?.slice(5);
  const where = rest.find((one) => /^(latest|keep|dp_.*)$/.test(one));
  const choice = where === undefined ? {} : { deployment: deploymentChoice(where) };
  if (kind === "restart") return { kind, newId: rest[0] ?? "", from: Number(from ?? 0), ...choice };
  return { kind: kind as "resume", ...choice };
}

function deploymentChoice(where: string): DeploymentChoice {
  return where === "latest" || where === "keep"
    ? { kind: where }
    : { kind: "deployment", id: where };
}

function heard(id: string, attempt: number, [first, ...frames]: string[]): Event {
  return {
    type: "framesReceived",
    id,
    attempt,
    first: Number(first),
    frames: frames.map(command),
    pin: { deployment: "dp_1", protocol: 6 },
    entropy: new Uint8Array(16),
  };
}

function invoked(id: string, [target = "", ...options]: string[]): Event {
  const option = (name: string) =>
    options.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const after = option("after"), keep = option("keep");
  const limitKey = option("key"), priority = option("priority");
  return {
    type: "invoked",
    id,
    fresh: !options.includes("again"),
    target: targetOf(target),
    headers: [],
    value: bytes("in"),
    origin: { by: "ingress" },
    retention: { resultMs: Number(keep ?? 1000), journalMs: Number(keep ?? 1000) },
    reply: 1,
    ...(after === undefined ? {} : { startAt: Number(after) }),
    ...(limitKey === undefined ? {} : { limitKey }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  };
}

function command(word: string): Command {
  const [kind = "", a = "", b = "", c = ""] = word.split(":");
  const raw = { bytes: bytes(word) };
  switch (kind) {
    case "sleep":
      return { kind: "sleep", ...raw, completion: Number(a), wakeAt: Number(b) };
    case "run":
      return { kind: "run", ...raw, completion: Number(a) };
    case "runCompletion":
      return {
        kind: "runCompletion",
        completion: Number(a),
        result: { kind: "value", value: bytes(b) },
      };
    case "set":
      return { kind: "setState", ...raw, key: a, value: bytes(b) };
    case "clear":
      return { kind: "clearState", ...raw, key: a };
    case "clearAll":
      return { kind: "clearAllState", ...raw };
    case "get":
      return { kind: "getLazyState", ...raw, completion: Number(a), key: b };
    case "out":
      return { kind: "output", ...raw, result: { kind: "value", value: bytes(a) } };
    case "fail":
      return {
        kind: "output",
        ...raw,
        result: { kind: "failure", failure: { code: 418, message: a } },
      };
    case "call":
    case "send":
      return asked(kind, raw, [a, b, c]);
    default:
      return rare(word);
  }
}

/** `promise:1:p`, `peek:1:p`, `keep:1:p:value`, `tell:i2:17:value`, `attach:1:i2`, `output:1:i2`. */
function rare(word: string): Command {
  const [kind = "", a = "", b = "", c] = word.split(":");
  const raw = { bytes: bytes(word), completion: Number(a) };
  switch (kind) {
    case "promise":
      return { kind: "getPromise", ...raw, key: b };
    case "peek":
      return { kind: "peekPromise", ...raw, key: b };
    case "keep":
      return {
        kind: "completePromise",
        ...raw,
        key: b,
        result: { kind: "value", value: bytes(c ?? "") },
      };
    case "tell":
      return {
        kind: "sendSignal",
        bytes: raw.bytes,
        signal: signal(c === undefined ? [a, b] : [a, b, c]),
      };
    case "attach":
      return { kind: "attach", ...raw, subject: { by: "invocation", id: b } };
    case "output":
      return { kind: "getOutput", ...raw, subject: { by: "invocation", id: b } };
    default:
      throw new Error(`Unknown command ${word}`);
  }
}

function asked(
  kind: "call" | "send",
  raw: { bytes: Uint8Array },
  [first, second, target]: [string, string, string],
): Command {
  const parts = target.split("/");
  const request = {
    service: parts[0] ?? "",
    handler: parts.at(-1) ?? "",
    key: parts.length === 3 ? parts[1] ?? "" : "",
    headers: [],
    value: NOTHING,
  };
  const invocationIdCompletion = Number(first);
  return kind === "call"
    ? { kind: "call", ...raw, invocationIdCompletion, completion: Number(second), request }
    : { kind: "oneWayCall", ...raw, invocationIdCompletion, startAt: Number(second), request };
}

function outcome(word: string): Outcome {
  const [kind, detail = ""] = word.split(":");
  if (kind === "ended") return { kind };
  if (kind === "suspended") {
    const [what = "", delivered] = detail.split("@");
    return { kind, awaiting: awaiting(what), delivered: Number(delivered) };
  }
  if (kind === "failed!pause" || kind === "failed!fail") {
    const behavior = kind === "failed!pause" ? "pause" : "fail";
    const failure = { code: "RT0007", status: 418, message: "x" };
    return { kind: "failed", failure, reached: true, behavior };
  }
  return {
    kind: "failed",
    failure: { code: "RT0007", status: 500, message: "x" },
    reached: kind !== "failed!unreached",
    ...(detail ? { retryAfterMs: Number(detail) } : {}),
  };
}

/** `at=5/dp_1/sdk`: when the attempt started, on which deployment, which answered. */
function site(word?: string): Pick<AttemptEnded, "site"> {
  const [startedAt, deployment, server] = word?.slice("at=".length).split("/") ?? [];
  if (startedAt === undefined) return {};
  return {
    site: {
      startedAt: Number(startedAt),
      ...(deployment !== undefined && { deployment }),
      ...(server !== undefined && { server }),
    },
  };
}

/** `1,2`: any of them, or the cancel signal. `all=1,2`: a combinator beside the cancel signal. */
function awaiting(what: string): Awaiting {
  const [ids = "", kind] = what.split("=").reverse();
  const completions = ids.split(",").filter((id) => id !== "" && !id.startsWith("s")).map(Number);
  const signals = ids.split(",").filter((id) => id.startsWith("s")).map((id) =>
    Number(id.slice(1))
  );
  if (kind === undefined) {
    return { kind: "unknown", completions, signals: [1, ...signals], names: [] };
  }
  const inner: Awaiting = { kind: kind as "all", completions, signals, names: [] };
  return { kind: "first", completions: [], signals: [1], names: [], nested: [inner] };
}
