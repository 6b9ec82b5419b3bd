import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { Staging } from "../../src/partition/staging.ts";

const MIN = 10;
const settled = () => new Promise((resolve) => setImmediate(resolve));

const invoked = (id: string, size: number): Event =>
  ({
    type: "invoked",
    id,
    fresh: true,
    target: { kind: "service", service: "S", handler: "h" },
    headers: [],
    value: new Uint8Array(size),
    origin: { kind: "ingress" },
    retention: { completionMs: 0, journalMs: 0 },
  }) as unknown as Event;

const frames = (id: string, first: number, ...sizes: number[]): Event =>
  ({
    type: "framesReceived",
    id,
    attempt: 1,
    first,
    frames: sizes.map((size) => ({
      kind: "output" as const,
      bytes: new Uint8Array(size),
      result: { kind: "void" as const },
    })),
    pin: { deployment: "d", protocol: 5 },
    entropy: new Uint8Array(16),
  }) as unknown as Event;

const ended = (id: string): Event =>
  ({ type: "attemptEnded", id, attempt: 1, outcome: { kind: "ended" }, jitter: 0 }) as Event;

/** Staging under control of the test: `sent` names sent events, `stages` completes stagings in order. */
function staging() {
  const sent: string[] = [], failures: unknown[] = [], released: number[] = [];
  const stages: { resolve: () => void; reject: (cause: unknown) => void }[] = [];
  const durables: (() => void)[] = [];
  const made = new Staging({
    bytesMin: MIN,
    stage: (bytes) =>
      new Promise((resolve, reject) =>
        stages.push({ resolve: () => resolve(() => released.push(bytes.length)), reject })
      ),
    send: (event, durable) => {
      sent.push(nameOf(event));
      if (durable) durables.push(durable);
    },
    onFailure: (cause) => failures.push(cause),
  });
  const offer = (event: Event) => {
    if (!made.hold(event, undefined)) sent.push(nameOf(event));
  };
  return { staging: made, offer, sent, stages, durables, released, failures };
}

function nameOf(event: Event): string {
  if (event.type === "framesReceived") return `${event.id} frame ${event.first}`;
  return "id" in event ? `${event.id} ${event.type}` : event.type;
}

test("events of an attempt wait behind a large one and keep their order; others do not wait", async () => {
  const { offer, sent, stages } = staging();
  offer(frames("a", 0, MIN - 1));
  offer(frames("a", 1, MIN));
  offer(frames("a", 2, 1));
  offer(ended("a"));
  offer(frames("b", 0, 1));
  offer(invoked("c", 1));
  await settled();
  expect(sent).toEqual(["a frame 0", "b frame 0", "c invoked"]);
  stages[0]?.resolve();
  await settled();
  expect(sent.slice(3)).toEqual(["a frame 1", "a frame 2", "a attemptEnded"]);
});

test("a second large event of an attempt waits for the first, and later events for both", async () => {
  const { offer, sent, stages, staging: one } = staging();
  offer(frames("a", 0, MIN, MIN + 1));
  offer(frames("a", 2, MIN));
  offer(ended("a"));
  await settled();
  expect([stages.length, one.waiting]).toEqual([1, 3]);
  for (let i = 0; i < 2; i++) {
    expect(sent).toEqual([]);
    stages[i]?.resolve();
    await settled();
  }
  expect(sent).toEqual(["a frame 0"]);
  stages[2]?.resolve();
  await settled();
  expect(sent.slice(1)).toEqual(["a frame 2", "a attemptEnded"]);
  expect(one.waiting).toBe(0);
});

test("a staged value is released once its event is durable, and not before", async () => {
  const { offer, stages, durables, released } = staging();
  offer(invoked("a", MIN));
  await settled();
  stages[0]?.resolve();
  await settled();
  expect(released).toEqual([]);
  durables[0]?.();
  expect(released).toEqual([MIN]);
});

test("a value that cannot be stored is a failure of the partition, unless it has stopped", async () => {
  for (const isStopped of [false, true]) {
    const { offer, stages, failures, sent, staging: one } = staging();
    offer(invoked("a", MIN));
    await settled();
    if (isStopped) one.stop();
    stages[0]?.reject(new Error("full"));
    await settled();
    expect([failures.length, sent]).toEqual([isStopped ? 0 : 1, []]);
  }
});

test("a batch of records waits for those of its values that are large, and no other event does", async () => {
  const { offer, stages, sent } = staging();
  const records = [MIN, 1, MIN + 1].map((size, offset) => (
    { offset, request: { value: new Uint8Array(size) } }
  ));
  offer({ type: "ingested", records } as unknown as Event);
  offer(invoked("a", 1));
  for (let i = 0; i < 2; i++) {
    await settled();
    expect([stages.length, sent]).toEqual([i + 1, ["a invoked"]]);
    stages[i]?.resolve();
  }
  await settled();
  expect(sent).toEqual(["a invoked", "ingested"]);
});
