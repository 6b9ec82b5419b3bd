import ConsumerGroup from "kafkajs/src/consumer/consumerGroup.js";
import RequestQueue from "kafkajs/src/network/requestQueue/index.js";
import { expect, test, vi } from "vitest";
import {
  type Group,
  type GroupHooks,
  INTERRUPTED,
  patchKafkajs,
} from "../../adapters/kafka/kafkajs_patches.ts";

/** Classes with the methods that are needed, as in kafkajs, but those that a test leaves out. */
function classes(without = "") {
  class Queue {
    pending: unknown[] = [];
    throttledUntil = -1;
    throttleCheckTimeoutId: unknown = null;
    checked = 0;
    checkPendingRequests(): void {
      this.checked++;
    }
    scheduleCheckPendingRequests(): void {}
  }
  class OneGroup {
    memberId: string | null = null;
    assigners: { hooks?: GroupHooks }[] = [];
    done: unknown[] = [];
    offsetManager = {
      resolveOffset: (at: object) => void this.done.push(at),
      getCoordinator: () => Promise.reject(new Error("there is none")),
    };
    async joinAndSync(): Promise<void> {
      this.done.push("joined");
    }
    async connect(): Promise<void> {
      this.done.push("connect");
    }
    async recoverFromFetch(error: Error): Promise<void> {
      this.done.push(error.name);
    }
    assigned(): [] {
      return [];
    }
    async heartbeat(): Promise<void> {}
  }
  for (const { prototype } of [Queue, OneGroup]) Reflect.deleteProperty(prototype, without);
  return { RequestQueue: Queue, ConsumerGroup: OneGroup };
}

const REPLACED = [
  [RequestQueue, "scheduleCheckPendingRequests"],
  [ConsumerGroup, "connect"],
  [ConsumerGroup, "joinAndSync"],
  [ConsumerGroup, "recoverFromFetch"],
] as const;

test("the pinned version has the methods that are changed, and they are changed once", () => {
  const methods = () => REPLACED.map(([{ prototype }, name]) => Reflect.get(prototype, name));
  const before = methods();
  patchKafkajs();
  const after = methods();
  expect(after.filter((method) => before.includes(method))).toEqual([]);
  patchKafkajs();
  expect(methods()).toEqual(after);
});

test("the pinned version has the fields that are read and set", () => {
  const logger = { namespace: () => logger, debug: () => {} };
  const queue = new RequestQueue({ logger, maxInFlightRequests: 1, clientId: "c", broker: "b" });
  expect(queue).toMatchObject({ pending: [], throttledUntil: -1, throttleCheckTimeoutId: null });
  const group = new ConsumerGroup({ logger, assigners: [], maxWaitTimeInMs: 7, topics: [] });
  expect(group).toMatchObject({
    memberId: null,
    maxWaitTime: 7,
    assigners: [],
    offsetManager: null,
  });
});

test.each([
  "scheduleCheckPendingRequests",
  "checkPendingRequests",
  "connect",
  "joinAndSync",
  "assigned",
  "recoverFromFetch",
  "heartbeat",
])("without %s nothing is changed, and the error says what is missing", (name) => {
  const given = classes(name);
  const methods = () =>
    Object.values(given).flatMap(({ prototype }) =>
      Object.getOwnPropertyNames(prototype).map((one) => Reflect.get(prototype, one))
    );
  const before = methods();
  expect(() => patchKafkajs(given)).toThrow(
    new RegExp(`^Cannot change kafkajs: (RequestQueue|ConsumerGroup) has no method "${name}"`),
  );
  expect(methods()).toEqual(before);
});

test("a queue in which nothing waits is not checked, and another one once", () => {
  vi.useFakeTimers();
  try {
    const given = classes();
    patchKafkajs(given);
    const queue = new given.RequestQueue();
    queue.scheduleCheckPendingRequests();
    expect([queue.throttleCheckTimeoutId, vi.getTimerCount()]).toEqual([null, 0]);
    queue.pending.push({});
    queue.throttledUntil = Date.now() + 500;
    queue.scheduleCheckPendingRequests();
    queue.scheduleCheckPendingRequests();
    vi.advanceTimersByTime(499);
    expect([queue.checked, vi.getTimerCount()]).toEqual([0, 1]);
    vi.advanceTimersByTime(1);
    expect([queue.checked, queue.throttleCheckTimeoutId]).toEqual([1, null]);
  } finally {
    vi.useRealTimers();
  }
});

test("a group asks its hooks who it was, and where to go on", async () => {
  const given = classes();
  patchKafkajs(given);
  const attached: Group[] = [];
  const hooks: GroupHooks = {
    memberId: () => "earlier",
    attached: (group) => void attached.push(group),
    joined: async () => void group.done.push("assigned"),
    outOfRange: async (topic, partition) => topic === "t" && partition === 3 ? 8 : 0,
  };
  const group = new given.ConsumerGroup();
  group.assigners.push({}, { hooks });
  await group.connect();
  expect([group.memberId, attached]).toEqual(["earlier", [group]]);
  await group.joinAndSync();
  const error = (more: object) => Object.assign(new Error("failed"), more);
  await group.recoverFromFetch(error({ code: INTERRUPTED }));
  const outOfRange = { name: "KafkaJSOffsetOutOfRange", topic: "t", partition: 3 };
  await group.recoverFromFetch(error(outOfRange));
  await group.recoverFromFetch(error({ name: "KafkaJSProtocolError" }));
  const next = { topic: "t", partition: 3, offset: "7" };
  expect(group.done)
    .toEqual(["connect", "joined", "assigned", next, "KafkaJSProtocolError"]);

  const plain = new given.ConsumerGroup();
  await plain.recoverFromFetch(error(outOfRange));
  expect(plain.done).toEqual(["KafkaJSOffsetOutOfRange"]);
});
