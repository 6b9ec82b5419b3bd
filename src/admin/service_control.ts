import type { Limits, Rate, ServiceControl, SharedLimits } from "../model/limits.ts";

/** Changes of what may run of a service or handler. Absent: as it is. Null: unlimited. */
export interface LimitChanges {
  readonly concurrency?: number | null;
  readonly rate?: Rate | null;
}

export interface ControlChanges extends LimitChanges {
  readonly paused?: boolean;
}

/**
 * The control of a service after changes. Undefined: nothing is limited or paused, or ever was limited.
 * `now`: in milliseconds since the epoch.
 */
export function changedControl(
  before: ServiceControl = {},
  { paused = before.paused ?? false, ...changes }: ControlChanges,
  now: number,
): ServiceControl | undefined {
  const { handlers, tightenedAt } = before;
  const limits = timed(before, before.limits, changedLimits(before.limits, changes), now);
  return unlessEmpty({
    ...(paused && { paused }),
    ...(limits && { limits }),
    ...(handlers && { handlers }),
    ...latestOf(tightenedAt, limits),
  });
}

/** The control of a service after changes of the limits of one handler. `now`: as above. */
export function changedHandler(
  before: ServiceControl = {},
  handler: string,
  changes: LimitChanges,
  now: number,
): ServiceControl | undefined {
  const { handlers: known = {}, tightenedAt, ...rest } = before;
  const all = new Map(Object.entries(known));
  const old = all.get(handler);
  const limits = timed(before, old, changedLimits(old, changes), now);
  if (limits) all.set(handler, limits);
  else all.delete(handler);
  return unlessEmpty({
    ...rest,
    ...(all.size > 0 && { handlers: Object.fromEntries(all) }),
    ...latestOf(tightenedAt, limits),
  });
}

/** Limits with their times (decision 079). A limit that is only raised keeps those that it had. */
function timed(
  { tightenedAt: latest = 0 }: ServiceControl,
  before: SharedLimits | undefined,
  after: Limits | undefined,
  now: number,
): SharedLimits | undefined {
  if (!after || !isTighter(before, after)) return after && { ...timesOf(before), ...after };
  // In order also when the clock was set back.
  const tightenedAt = Math.max(now, latest + 1);
  const isNew = after.concurrency !== undefined && before?.concurrency === undefined;
  const { limitedAt } = isNew ? { limitedAt: tightenedAt } : before ?? {};
  return { ...after, ...(limitedAt !== undefined && { limitedAt }), tightenedAt };
}

function timesOf({ limitedAt, tightenedAt }: SharedLimits = {}): SharedLimits {
  return {
    ...(limitedAt !== undefined && { limitedAt }),
    ...(tightenedAt !== undefined && { tightenedAt }),
  };
}

/** Every other rate counts as one that is lower. */
function isTighter(before: Limits = {}, { concurrency = Infinity, rate }: Limits): boolean {
  if (concurrency < (before.concurrency ?? Infinity)) return true;
  return rate !== undefined && JSON.stringify(rate) !== JSON.stringify(before.rate);
}

function latestOf(
  latest: number | undefined,
  { tightenedAt = latest }: SharedLimits = {},
): Pick<ServiceControl, "tightenedAt"> {
  if (tightenedAt === undefined) return {};
  return { tightenedAt: Math.max(tightenedAt, latest ?? 0) };
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
