import type { Limits, Rate, ServiceControl } from "../model/limits.ts";

/** Changes of what may run of a service or handler. Absent: as it is. Null: unlimited. */
export interface LimitChanges {
  readonly concurrency?: number | null;
  readonly rate?: Rate | null;
}

export interface ControlChanges extends LimitChanges {
  readonly paused?: boolean;
}

/** The control of a service after changes. Undefined: nothing is limited or paused. */
export function changedControl(
  before: ServiceControl = {},
  { paused = before.paused ?? false, ...changes }: ControlChanges,
): ServiceControl | undefined {
  const { handlers } = before;
  const limits = changedLimits(before.limits, changes);
  return unlessEmpty({
    ...(paused && { paused }),
    ...(limits && { limits }),
    ...(handlers && { handlers }),
  });
}

/** The control of a service after changes of the limits of one handler. */
export function changedHandler(
  before: ServiceControl = {},
  handler: string,
  changes: LimitChanges,
): ServiceControl | undefined {
  const { handlers: known = {}, ...rest } = before;
  const all = new Map(Object.entries(known));
  const limits = changedLimits(all.get(handler), changes);
  if (limits) all.set(handler, limits);
  else all.delete(handler);
  return unlessEmpty({ ...rest, ...(all.size > 0 && { handlers: Object.fromEntries(all) }) });
}

function changedLimits(before: Limits = {}, changes: LimitChanges): Limits | undefined {
  const { concurrency = before.concurrency, rate = before.rate } = changes;
  return unlessEmpty({
    ...(concurrency != null && { concurrency }),
    ...(rate != null && { rate }),
  });
}

function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
