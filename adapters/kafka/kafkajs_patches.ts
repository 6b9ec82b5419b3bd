import ConsumerGroup from "kafkajs/src/consumer/consumerGroup.js";
import RequestQueue from "kafkajs/src/network/requestQueue/index.js";

/**
 * What a consumer of ours does at points where kafkajs 2.2.4 has no option. `groupHooks` puts one into
 * the assigners of a consumer, from where the patched methods take it.
 */
export interface GroupHooks {
  /** The id that the broker may know this member by, from before a crash of the consumer. */
  readonly memberId: () => string | undefined;
  /** The group begins to connect. */
  readonly attached: (group: Group) => void;
  /** It has been assigned partitions, of which nothing is fetched before this resolves. */
  readonly joined: (group: Group) => Promise<void>;
  /** An offset that the partition does not have (any more). Resolves with the one to go on with. */
  readonly outOfRange: (topic: string, partition: number) => Promise<number>;
}

/** The parts of kafkajs's `ConsumerGroup` that are used. */
export interface Group {
  memberId: string | null;
  /** How long the broker may wait for records, in milliseconds. */
  maxWaitTime: number;
  /** Sends one if the last is longer ago than `interval`. Rejects while the group is rebalancing. */
  heartbeat(options: { readonly interval: number }): Promise<void>;
  readonly assigners: readonly { readonly hooks?: GroupHooks }[];
  assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[];
  readonly offsetManager: {
    resolveOffset(at: { topic: string; partition: number; offset: string }): void;
    getCoordinator(): Promise<Coordinator>;
  };
}

/** The part of kafkajs's `Broker` that is used. */
interface Coordinator {
  offsetFetch(asked: {
    readonly groupId: string;
    readonly topics: readonly OffsetsAsked[];
  }): Promise<{ readonly responses: readonly OffsetsFound[] }>;
}

/** Partitions whose offsets are asked for. */
export interface OffsetsAsked {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

/** Offsets of a group. -1: it has none. */
export interface OffsetsFound {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** The code of the error of a connection that was closed to end a fetch early. */
export const INTERRUPTED = "EINTERRUPTED";

interface FetchError extends Error {
  readonly code?: string;
  readonly topic?: string;
  readonly partition?: number;
}

type Recover = (this: Group, error: FetchError) => Promise<void>;
type Connect = (this: Group) => Promise<void>;
type Join = (this: Group) => Promise<void>;

interface PatchedGroup {
  connect: Connect;
  recoverFromFetch: Recover;
  joinAndSync: Join;
}

interface Queue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: ReturnType<typeof setTimeout> | null;
  checkPendingRequests(): void;
}

const CHECK_MS = 10;
const patched = new WeakSet<object>();

/** The classes of kafkajs that are changed. */
export interface Patched {
  readonly RequestQueue: { readonly prototype: object };
  readonly ConsumerGroup: { readonly prototype: object };
}

/** The methods that are replaced, and those that the new ones call. */
const METHODS = {
  RequestQueue: ["scheduleCheckPendingRequests", "checkPendingRequests"],
  ConsumerGroup: ["connect", "joinAndSync", "assigned", "recoverFromFetch", "heartbeat"],
} as const;

/**
 * Changes four methods of kafkajs, once. Throws where one that is needed is not there: the version is
 * pinned, and another one may have other methods (`test/kafka/patches.test.ts`).
 */
export function patchKafkajs(classes: Patched = { RequestQueue, ConsumerGroup }): void {
  const [queue, group] = [classes.RequestQueue.prototype, classes.ConsumerGroup.prototype];
  requireMethods("RequestQueue", queue);
  requireMethods("ConsumerGroup", group);
  if (patched.has(group)) return;
  patched.add(group);
  patchQueue(queue as unknown as Queue & { scheduleCheckPendingRequests(): void });
  patchGroup(group as unknown as PatchedGroup);
}

function requireMethods(name: keyof typeof METHODS, prototype: object): void {
  for (const method of METHODS[name]) {
    if (typeof Reflect.get(prototype, method) === "function") continue;
    throw new Error(
      `Cannot change kafkajs: ${name} has no method "${method}"; the sidecar needs version 2.2.4`,
    );
  }
}

/** It looks every millisecond for requests that wait, on every connection, though none do. */
function patchQueue(queue: Queue & { scheduleCheckPendingRequests(): void }): void {
  queue.scheduleCheckPendingRequests = function (this: Queue) {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, Math.max(CHECK_MS, this.throttledUntil - Date.now()));
  };
}

function patchGroup(group: PatchedGroup): void {
  const { connect, joinAndSync, recoverFromFetch } = group;
  group.connect = async function () {
    const hooks = hooksOf(this);
    this.memberId ??= hooks?.memberId() ?? null;
    hooks?.attached(this);
    await connect.call(this);
  };
  group.joinAndSync = async function () {
    await joinAndSync.call(this);
    await hooksOf(this)?.joined(this);
  };
  group.recoverFromFetch = async function (error) {
    if (error.code === INTERRUPTED) return;
    const hooks = hooksOf(this);
    const { topic, partition } = error;
    if (error.name !== "KafkaJSOffsetOutOfRange" || !hooks || topic === undefined) {
      return await recoverFromFetch.call(this, error);
    }
    const next = await hooks.outOfRange(topic, partition ?? 0);
    const offset = String(next - 1);
    this.offsetManager.resolveOffset({ topic, partition: partition ?? 0, offset });
  };
}

function hooksOf(group: Group): GroupHooks | undefined {
  return group.assigners.find(({ hooks }) => hooks !== undefined)?.hooks;
}
