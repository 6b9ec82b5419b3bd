import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { step } from "../../src/engine/step.ts";
import { type RowView, Turn } from "../../src/engine/turn.ts";
import type { CallRequest, Command } from "../../src/model/command.ts";
import { newInvocationId } from "../../src/model/id.ts";
import type { Invoked } from "../../src/model/message.ts";
import { partitionOfId, partitionOfObject } from "../../src/model/ring.ts";
import { type FlowControl, Schema } from "../../src/model/schema.ts";
import { Resident } from "../../src/partition/resident.ts";
import { defaults, deployment, targetOf } from "../support/schema.ts";

const PARTITIONS = 64;
const NOTHING = new Uint8Array(0);
const entropy = new Uint8Array(16).fill(7);
const all = { scopes: true, scopedObjects: true };
const services = { scopes: true, scopedObjects: false };

interface Called {
  /** The request for the callee, which is in another partition. */
  readonly asked: Invoked | undefined;
  readonly refusal: string | undefined;
}

/** Plays events in the partition of an invocation, which nearly no other id belongs to. */
class Stage {
  readonly id: string;
  readonly #resident = new Resident(1e9);
  readonly #schema: Schema;

  constructor(flowControl: FlowControl | null) {
    const identity = { service: "greeter", handler: "hi", isWorkflowRun: false };
    this.id = newInvocationId(identity, entropy, 0).id;
    this.#schema = new Schema([deployment], { ...defaults, ...(flowControl && { flowControl }) });
  }

  play(event: Event): Turn {
    const resident = this.#resident;
    const rows: RowView = {
      find: (...at) => resident.find(...at) ?? null,
      list: (...at) => resident.list(...at) ?? [],
    };
    const range = { partition: partitionOfId(this.id, PARTITIONS), partitions: PARTITIONS };
    const turn = new Turn(1, this.#schema, { rows, range });
    step(turn, event);
    resident.apply(turn, 1);
    return turn;
  }
}

/** One handler calls `greeter/hi`, or what `request` says. `flowControl`: null while it is off. */
function called(
  request: Partial<CallRequest>,
  flowControl: FlowControl | null = all,
  kind: "call" | "oneWayCall" = "call",
): Called {
  const stage = new Stage(flowControl);
  const plain = { headers: [], value: NOTHING };
  stage.play({
    type: "invoked",
    id: stage.id,
    fresh: true,
    target: targetOf("greeter/hi"),
    origin: { by: "ingress" },
    retention: { resultMs: 1, journalMs: 1 },
    ...plain,
  });
  const whole = { service: "greeter", handler: "hi", key: "", ...plain, ...request };
  const frames = [commandOf(kind, whole)];
  const pin = { deployment: "dp_1", protocol: 7 };
  const heard = { type: "framesReceived", id: stage.id, attempt: 1, first: 0 } as const;
  const { writes } = stage.play({ ...heard, frames, pin, entropy });
  const messages = writes.flatMap(({ row }) => "message" in row ? [row.message] : []);
  const failures = writes.flatMap(({ row }) => "lastFailure" in row ? [row.lastFailure] : []);
  const failure = failures.find((one) => one !== undefined);
  return {
    asked: messages.find((one) => one.type === "invoked"),
    refusal: failure && `${failure.code} ${failure.message}`,
  };
}

function commandOf(kind: "call" | "oneWayCall", request: CallRequest): Command {
  const head = { bytes: NOTHING, invocationIdCompletion: 1, request };
  return kind === "call" ? { kind, ...head, completion: 2 } : { kind, ...head, startAt: 0 };
}

test("the callee gets the scope, the limit key and the priority of the call", () => {
  const headers = [["a", "b"], ["X-Svc-Priority", "7"]] as const;
  for (const kind of ["call", "oneWayCall"] as const) {
    const { asked } = called({ scope: "blue", limitKey: "a/b/", headers }, services, kind);
    expect(asked).toMatchObject({ limitKey: "a/b", priority: 7, headers });
    expect(asked?.target).toEqual({ ...targetOf("greeter/hi"), scope: "blue" });
    expect(partitionOfId(asked?.id ?? "", PARTITIONS))
      .toBe(partitionOfObject({ key: "blue" }, PARTITIONS));
  }
});

test("the scope is part of the identity of the callee, and the limit key is not", () => {
  const idOf = (request: Partial<CallRequest>) => called(request).asked?.id;
  const named = { idempotencyKey: "k" };
  const ids = [{}, { scope: "blue" }, { scope: "red" }].map((one) => idOf({ ...named, ...one }));
  expect(new Set(ids).size).toBe(3);
  expect(idOf({ ...named, scope: "blue", limitKey: "a" })).toBe(ids[1]);
});

test("an empty scope or limit key is none, and the default priority is not stored", () => {
  const headers = [["x-restate-priority", "4"]] as const;
  // Even while scopes are not enabled.
  const { asked } = called({
    scope: "",
    limitKey: "",
    headers,
    service: "flow",
    handler: "ask",
    key: "w",
  }, null);
  expect(asked?.target).toEqual({
    service: "flow",
    handler: "ask",
    key: "w",
    type: "workflow",
    access: "shared",
  });
  expect(asked).not.toHaveProperty("limitKey");
  expect(asked).not.toHaveProperty("priority");
});

test("a priority needs no feature, and our own spelling of its header comes first", () => {
  const headers = [["x-restate-priority", "1"], ["x-svc-priority", "9"]] as const;
  expect(called({ service: "flow", handler: "ask", key: "w", headers }, null).asked)
    .toHaveProperty("priority", 9);
});

const tooMany = "too many path components in the given limit-key (max 2)";
const charset = "value contains characters outside the allowed set [a-zA-Z0-9_.-]";
const object = { service: "counter", handler: "add", key: "k" };

// In the words of the reference (docs/spec/service-protocol.md#refused-commands).
test.each<[string, Partial<CallRequest>, FlowControl | null]>([
  ["RT0024 scoped invocations require flow control experimental feature to be enabled", {
    scope: "a b",
    limitKey: "a/b/c",
  }, null],
  [
    `RT0024 the provided scope 'a b' is invalid: ${charset}`,
    { scope: "a b", limitKey: "///" },
    all,
  ],
  [`RT0024 the provided limit key 'a/b/c' is invalid: ${tooMany}`, {
    scope: "a",
    limitKey: "a/b/c",
  }, all],
  [
    `RT0024 the provided limit key 'a/b/c' is invalid: ${tooMany}`,
    { limitKey: "a/b/c" },
    null,
  ],
  [
    "RT0024 limit key was provided without a scope. Limit keys take effect only when used in " +
    "combination with scope",
    { limitKey: "a" },
    all,
  ],
  ["RT0017 scope is not supported for Virtual Object targets", { ...object, scope: "a" }, services],
  [`RT0024 the provided scope 'a b' is invalid: ${charset}`, { ...object, scope: "a b" }, services],
  [
    "RT0017 the priority '10' is invalid: expected an integer from 0, the lowest, to 9",
    { headers: [["x-svc-priority", "10"]] },
    null,
  ],
])("a call is refused with %s", (wanted, request, flowControl) => {
  for (const kind of ["call", "oneWayCall"] as const) {
    expect(called(request, flowControl, kind)).toEqual({
      asked: undefined,
      refusal: wanted,
    });
  }
});
