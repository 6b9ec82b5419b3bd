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
  readonly offsetManager: {
    resolveOffset(at: { topic: string; partition: number; offset: string }): void;
  };
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

interface Queue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: ReturnType<typeof setTimeout> | null;
  checkPendingRequests(): void;
}

const CHECK_MS = 10;
let isPatched = false;

/**
 * Changes three methods of kafkajs, once. The version is pinned, and `test/kafka/patches.test.ts`
 * notices if one of them is gone.
 */
export function patchKafkajs(): void {
  if (isPatched) return;
  isPatched = true;
  patchQueue(RequestQueue.prototype as unknown as Queue & { scheduleCheckPendingRequests(): void });
  patchGroup(
    ConsumerGroup.prototype as unknown as { connect: Connect; recoverFromFetch: Recover },
  );
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

function patchGroup(group: { connect: Connect; recoverFromFetch: Recover }): void {
  const { connect, recoverFromFetch } = group;
  group.connect = async function () {
    const hooks = hooksOf(this);
    this.memberId ??= hooks?.memberId() ?? null;
    hooks?.attached(this);
    await connect.call(this);
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
