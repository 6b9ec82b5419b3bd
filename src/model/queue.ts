import type { Target } from "./target.ts";

/** The priority of an invocation whose caller has set none. 0: the lowest. */
export const PRIORITY_DEFAULT = 4;
export const PRIORITY_MAX = 9;

/** The waiting that is worth one level of priority where no setting says otherwise, in milliseconds. */
export const PRIORITY_AGING_MS = 10_000;

/**
 * The lane of what has a priority, 0 … 9. What has run before goes ahead of what has not: that is
 * worth half a level of priority (docs/decisions/050-admission-by-counting.md).
 */
export function laneOf(priority: number, hasRun: boolean): number {
  return 2 * priority + (hasRun ? 1 : 0);
}

/**
 * A virtual queue: the invocations of one service, or of one object or workflow, with one scope and one
 * limit key, which wait and run together (docs/spec/admin.md#virtual-queues).
 */
export interface VirtualQueue {
  readonly service: string;
  readonly scope: string | undefined;
  readonly limitKey: string | undefined;
  /** Key of the object or workflow. Absent: a plain service, or the whole of any service. */
  readonly key?: string | undefined;
}

/**
 * How a text becomes three numbers: its bytes in UTF-8, as many at once as `step`, are digits of a
 * number modulo a prime. SQL computes the same (`introspection/tables/queue_id.ts`), so no step exceeds
 * 63 bits. The primes differ: modulo the same one, two texts that differ in one step would be alike in
 * all numbers or in none.
 */
export const QUEUE_HASH = {
  step: 7,
  lanes: [
    { prime: 2_147_483_647, factor: 1_103_515_245 },
    { prime: 2_147_483_629, factor: 1_664_525_007 },
    { prime: 2_147_483_587, factor: 1_812_433_253 },
  ],
} as const;

const encoder = new TextEncoder();

/**
 * The id of a virtual queue: 37 characters that begin with `vq_1`, because clients of the reference
 * refuse others (`checkQueueId`). It is a hash of its parts, in decimal digits, and stored nowhere.
 */
export function printQueueId(queue: VirtualQueue): string {
  const bytes = encoder.encode(partsOf(queue));
  const [first, second, third] = QUEUE_HASH.lanes.map((lane) =>
    numberOf(bytes, lane).toString().padStart(10, "0")
  );
  return `vq_10${first}00${second}${third}`;
}

/** Whether `printQueueId` may have made a text. */
export function isQueueId(text: string): boolean {
  return /^vq_10\d{10}00\d{20}$/.test(text);
}

/** The text that an id is the hash of. Neither scopes, limit keys nor service names have a colon. */
function partsOf({ service, scope = "", limitKey = "", key }: VirtualQueue): string {
  const object = key === undefined ? service : `${service}/${key}`;
  return `${scope}:${limitKey}:${object}`;
}

function numberOf(
  bytes: Uint8Array,
  lane: { readonly prime: number; readonly factor: number },
): bigint {
  const [prime, factor] = [BigInt(lane.prime), BigInt(lane.factor)];
  let value = 0n;
  for (let at = 0; at < bytes.length; at += QUEUE_HASH.step) {
    let digits = 0n;
    for (const byte of bytes.subarray(at, at + QUEUE_HASH.step)) {
      digits = digits << 8n | BigInt(byte);
    }
    value = (value * factor + digits) % prime;
  }
  return value;
}

/** The virtual queue of an invocation. */
export function queueOf(
  { target, limitKey }: { readonly target: Target; readonly limitKey?: string | undefined },
): VirtualQueue {
  const { service, scope, key } = target;
  return { service, scope, limitKey, key };
}
