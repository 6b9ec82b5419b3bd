import type { Controls, Limits, Rate, SharedLimits } from "../../model/limits.ts";
import type { Target } from "../../model/target.ts";
import {
  type Counter,
  handlerCounter,
  isScoped,
  scopeCounters,
  scopedName,
  serviceCounter,
  serviceOfCounter,
} from "./counters.ts";

/** What decides whether an invocation, or the head of a queue, may start. */
export interface Demand {
  readonly service: string;
  /** Undefined: its limits are not looked at. */
  readonly handler: string | undefined;
  readonly scope: string | undefined;
  readonly limitKey: string | undefined;
  /** On which it will run, for pauses. Undefined: none is looked at. */
  readonly deployment: string | undefined;
  /** The id of its virtual queue, for pauses. Undefined: none is looked at. */
  readonly queueId: string | undefined;
  /** Whether it has never run: only then it needs a token of each rate. */
  readonly isFirst: boolean;
}

/** What a counter has to give. */
export interface Capacity {
  /** Whether `limit` allows one more. */
  hasSlot(counter: Counter, limit: number): boolean;
  hasToken(counter: Counter, rate: Rate): boolean;
}

/** Why an invocation has to wait. */
export interface Full {
  readonly counter: Counter;
  readonly by: "concurrency" | "rate" | "paused";
  /** With `rate`: the one that leaves no token. */
  readonly rate?: Rate;
}

/** Whether nothing limits or pauses the invocations of a target, so that none has to wait. */
export function isUncontrolled(
  { service, scope }: Pick<Target, "service" | "scope">,
  { rules, services, pausedDeployments, pausedQueues }: Controls,
): boolean {
  return !services.has(service) && (scope === undefined || rules.rules.length === 0) &&
    pausedDeployments.size === 0 && pausedQueues.size === 0;
}

/** The first counter that has no room. Undefined: the invocation may start. */
export function firstFull(
  demand: Demand,
  controls: Controls,
  capacity: Capacity,
): Full | undefined {
  const pause = pausedBy(demand, controls);
  if (pause !== undefined) return { counter: pause, by: "paused" };
  for (const { counter, limits } of limitsOf(demand, controls)) {
    const { concurrency, rate } = limits;
    if (concurrency !== undefined && !capacity.hasSlot(counter, concurrency)) {
      return { counter, by: "concurrency" };
    }
    if (rate && demand.isFirst && !capacity.hasToken(counter, rate)) {
      return { counter, by: "rate", rate };
    }
  }
  return undefined;
}

/** The counter of the pause that keeps an invocation from running: its service, deployment or queue. */
export function pausedBy(demand: Demand, controls: Controls): Counter | undefined {
  const { service, deployment, queueId } = demand;
  const { services, pausedDeployments, pausedQueues } = controls;
  if (services.size > 0 && services.get(service)?.paused) return `paused service:${service}`;
  if (deployment !== undefined && pausedDeployments.has(deployment)) {
    return `paused deployment:${deployment}`;
  }
  return queueId !== undefined && pausedQueues.has(queueId) ? `paused queue:${queueId}` : undefined;
}

interface LimitedCounter {
  readonly counter: Counter;
  readonly limits: Limits;
}

const UNLIMITED: readonly LimitedCounter[] = [];

/** The counters of an invocation that are limited, the narrowest first (docs/spec/admin.md#rules). */
export function limitsOf(
  { service, handler, scope, limitKey }: Demand,
  { services, rules }: Controls,
): readonly LimitedCounter[] {
  const control = services.size > 0 ? services.get(service) : undefined;
  if (!control && (scope === undefined || rules.rules.length === 0)) return UNLIMITED;
  const found: LimitedCounter[] = [];
  if (control) {
    const { handlers = {} } = control;
    const own = handler !== undefined && Object.hasOwn(handlers, handler)
      ? handlers[handler]
      : undefined;
    if (own) found.push({ counter: handlerCounter(service, handler ?? ""), limits: own });
    if (control.limits) found.push({ counter: serviceCounter(service), limits: control.limits });
  }
  if (scope !== undefined) {
    for (const counter of scopeCounters(scope, limitKey)) {
      const rule = rules.ruleOf(scopedName(counter));
      if (rule) found.push({ counter, limits: rule.limits });
    }
  }
  return found;
}

/** Whether a handler has limits of its own, so that its invocations queue apart. */
export function hasOwnLimits(service: string, handler: string, { services }: Controls): boolean {
  const handlers = services.get(service)?.handlers;
  return handlers !== undefined && Object.hasOwn(handlers, handler);
}

/** The limits of the counter of a service or a handler. Undefined: it has none. */
export function limitsOfCounter(
  counter: Counter,
  { services }: Controls,
): SharedLimits | undefined {
  const [service = "", handler] = counter.slice(counter.indexOf(":") + 1).split("/");
  const control = services.get(service);
  if (handler === undefined) return control?.limits;
  const { handlers = {} } = control ?? {};
  return Object.hasOwn(handlers, handler) ? handlers[handler] : undefined;
}

/** The counters of all services and handlers that are limited. */
export function* limitedCounters({ services }: Controls): Generator<Counter> {
  for (const [service, { limits, handlers = {} }] of services) {
    if (limits) yield serviceCounter(service);
    for (const handler of Object.keys(handlers)) yield handlerCounter(service, handler);
  }
}

/** The counters of the limited handlers of a service, by its counter. Of any other counter: none. */
export function* limitedHandlers(counter: Counter, { services }: Controls): Generator<Counter> {
  const service = serviceOfCounter(counter);
  if (service === undefined) return;
  const { handlers = {} } = services.get(service) ?? {};
  for (const handler of Object.keys(handlers)) yield handlerCounter(service, handler);
}

/** Whether a rule gives a rate to the counter of a scope or a limit key. Of other counters: false. */
export function hasRate(counter: Counter, { rules }: Controls): boolean {
  const name = isScoped(counter) ? scopedName(counter) : undefined;
  return name !== undefined && rules.ruleOf(name)?.limits.rate !== undefined;
}
