import type { Target } from "../../model/target.ts";

/**
 * A counter counts the invocations that hold a slot, and is known by its name: `service:S`,
 * `handler:S/h`, and `scope:a`, `scope:a/b`, `scope:a/b/c` for a scope and the levels of limit keys.
 * The counters of pauses count nothing and have no room: `paused service:S` and the like.
 */
export type Counter = string;

/** What is counted of an invocation. */
export interface Counted {
  readonly target: Pick<Target, "service" | "handler" | "scope">;
  readonly limitKey?: string | undefined;
}

/** Targets are shared by reference between the versions of a row, as are their limit keys. */
const known = new WeakMap<Counted["target"], readonly Counter[]>();

/** The counters of handlers, by service and handler: of all calls without a scope, which are most. */
const unscoped = new Map<string, Map<string, readonly Counter[]>>();
/** With more handlers `unscoped` begins anew, so that names of the past do not stay in memory. */
const UNSCOPED_MAX = 10_000;
let unscopedCount = 0;

/** The counters in which an invocation holds a slot while it runs, the narrowest of each kind first. */
export function countersOf({ target, limitKey }: Counted): readonly Counter[] {
  const { service, handler, scope } = target;
  if (scope === undefined) return countersOfHandler(service, handler);
  let counters = known.get(target);
  if (!counters) {
    counters = [...countersOfHandler(service, handler), ...scopeCounters(scope, limitKey)];
    known.set(target, counters);
  }
  return counters;
}

function countersOfHandler(service: string, handler: string): readonly Counter[] {
  const before = unscoped.get(service)?.get(handler);
  if (before) return before;
  if (unscopedCount++ >= UNSCOPED_MAX) {
    unscoped.clear();
    unscopedCount = 1;
  }
  const counters = [handlerCounter(service, handler), serviceCounter(service)];
  const handlers = unscoped.get(service);
  if (handlers) handlers.set(handler, counters);
  else unscoped.set(service, new Map([[handler, counters]]));
  return counters;
}

export function serviceCounter(service: string): Counter {
  return `${SERVICE}${service}`;
}

export function handlerCounter(service: string, handler: string): Counter {
  return `${HANDLER}${service}/${handler}`;
}

/**
 * Whether all partitions share a counter (decision 051). The others are used in one partition only,
 * that of the scope.
 */
export function isShared(
  counter: Counter,
  { partitions }: { readonly partitions: number },
): boolean {
  return partitions > 1 && (counter.startsWith(SERVICE) || counter.startsWith(HANDLER));
}

/** The counter of the service, of the counter of one of its handlers. Undefined: it is no such one. */
export function serviceOfHandler(counter: Counter): Counter | undefined {
  if (!counter.startsWith(HANDLER)) return undefined;
  return serviceCounter(counter.slice(HANDLER.length, counter.indexOf("/")));
}

/** The name of the service, of the counter of a service. Undefined: it is no such one. */
export function serviceOfCounter(counter: Counter): string | undefined {
  return counter.startsWith(SERVICE) ? counter.slice(SERVICE.length) : undefined;
}

const SERVICE = "service:";
const HANDLER = "handler:";
const SCOPE = "scope:";

/** The counters of a limit key and its scope, the narrowest first. `limitKey`: as rows have it. */
export function scopeCounters(scope: string, limitKey: string | undefined): Counter[] {
  const whole = `${SCOPE}${scope}`;
  if (limitKey === undefined) return [whole];
  const slash = limitKey.indexOf("/");
  if (slash < 0) return [`${whole}/${limitKey}`, whole];
  return [`${whole}/${limitKey}`, `${whole}/${limitKey.slice(0, slash)}`, whole];
}

/** Whether a counter is that of a pause, at which queues wait that have nothing in common but the pause. */
export function isPause(counter: Counter): boolean {
  return counter.startsWith("paused ");
}

/** Whether a counter is of a scope or a limit key. */
export function isScoped(counter: Counter): boolean {
  return counter.startsWith(SCOPE);
}

/** What rules match of the counter of a scope or a limit key: `a`, `a/b` or `a/b/c`. */
export function scopedName(counter: Counter): string {
  return counter.slice(SCOPE.length);
}
