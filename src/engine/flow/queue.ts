import type { InvocationRow } from "../../model/invocation.ts";
import { laneOf, printQueueId, PRIORITY_DEFAULT, queueOf } from "../../model/queue.ts";
import type { Controls } from "../../model/limits.ts";
import type { Schema } from "../../model/schema.ts";
import { type Counter, handlerCounter, scopeCounters, serviceCounter } from "./counters.ts";
import { type Demand, hasOwnLimits } from "./admission.ts";

/** In a queue of invocations that are not bound to a deployment: they run on the latest one. */
const LATEST = "*";

/** Parts of a name are separated by a character that is in none of them. */
const SEPARATOR = ":";

/** The fields of an invocation that decide where it waits. */
export type Waiter = Pick<
  InvocationRow,
  "target" | "limitKey" | "priority" | "pin" | "runningAt"
>;

/**
 * The name of the queue in which an invocation waits. Its handler, its deployment and its virtual queue
 * are part of it only where they have limits or a pause of their own, so that they hold up no others.
 */
export function queueNameOf(row: Waiter, { controls }: Schema): string {
  const { target: { service, handler, scope = "" }, limitKey = "", pin } = row;
  const own = hasOwnLimits(service, handler, controls) ? handler : "";
  const deployment = controls.pausedDeployments.size > 0 ? pin?.deployment ?? LATEST : "";
  const { priority = PRIORITY_DEFAULT, runningAt } = row;
  const lane = String(laneOf(priority, runningAt !== undefined)).padStart(2, "0");
  const name = [lane, scope, limitKey, service, own, deployment].join(SEPARATOR);
  const queueId = queueIdOf(row, controls);
  return queueId !== undefined && controls.pausedQueues.has(queueId)
    ? name + SEPARATOR + queueId
    : name;
}

/** Undefined: no virtual queue is paused, so none is looked at. */
function queueIdOf(row: Waiter, { pausedQueues }: Controls): string | undefined {
  return pausedQueues.size > 0 ? printQueueId(queueOf(row)) : undefined;
}

/** What a name says. */
export interface ParsedQueue extends Omit<Demand, "isFirst"> {
  /** As `laneOf` makes it. */
  readonly lane: number;
}

/** The reverse of `queueNameOf`. */
export function parseQueueName(name: string): ParsedQueue {
  const [lane = "", scope, limitKey, service = "", handler, deployment, queueId] = name
    .split(SEPARATOR);
  return {
    lane: Number(lane),
    service,
    handler: handler || undefined,
    scope: scope || undefined,
    limitKey: limitKey || undefined,
    deployment: deployment || undefined,
    queueId,
  };
}

/** The counters in which the head of a queue surely takes a slot. */
export function countersOfQueue({ service, handler, scope, limitKey }: ParsedQueue): Counter[] {
  return [
    ...handler === undefined ? [] : [handlerCounter(service, handler)],
    serviceCounter(service),
    ...scope === undefined ? [] : scopeCounters(scope, limitKey),
  ];
}

/** What the head of a queue needs. */
export function demandOfQueue(queue: ParsedQueue, schema: Schema): Demand {
  const { lane, service, deployment } = queue;
  return {
    ...queue,
    deployment: deployment === LATEST ? schema.latest(service)?.deployment : deployment,
    isFirst: lane % 2 === 0,
  };
}

/** What an invocation needs. */
export function demandOf(row: Waiter, schema: Schema): Demand {
  const { target: { service, handler, scope }, limitKey, pin, runningAt } = row;
  const isPaused = schema.controls.pausedDeployments.size > 0;
  return {
    service,
    handler,
    scope,
    limitKey,
    deployment: isPaused ? pin?.deployment ?? schema.latest(service)?.deployment : undefined,
    queueId: queueIdOf(row, schema.controls),
    isFirst: runningAt === undefined,
  };
}
