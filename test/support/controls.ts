import { changedControl, changedHandler } from "../../src/admin/service_control.ts";
import {
  type Controls,
  type Limits,
  NO_CONTROLS,
  RuleBook,
  type ServiceControl,
} from "../../src/model/limits.ts";

/** The parts of `Controls` as tests write them down. */
export interface GivenControls {
  /** By pattern. `disabled`: it is stored, and has no effect. */
  readonly rules?: Readonly<Record<string, Limits & { readonly disabled?: boolean }>>;
  readonly services?: Readonly<Record<string, ServiceControl>>;
  readonly pausedDeployments?: readonly string[];
  /** Ids of virtual queues. */
  readonly pausedQueues?: readonly string[];
}

/** What operators have limited and paused. Absent parts: nothing. */
export function controlsOf(given: GivenControls): Controls {
  const { rules = {}, services = {}, pausedDeployments = [], pausedQueues = [] } = given;
  const all = Object.entries(rules).map(([pattern, { disabled = false, ...limits }]) => ({
    pattern,
    limits,
    disabled,
    version: 1,
    modifiedAt: 0,
  }));
  return {
    ...NO_CONTROLS,
    rules: new RuleBook(all, 1),
    services: new Map(Object.entries(services)),
    pausedDeployments: new Set(pausedDeployments),
    pausedQueues: new Set(pausedQueues),
  };
}

/** What holds after an operator has changed controls into those given, with the times of the changes. */
export function controlsAfter(before: Controls, given: GivenControls, now: number): Controls {
  const after = controlsOf(given), services = new Map<string, ServiceControl>();
  for (const name of new Set([...before.services.keys(), ...after.services.keys()])) {
    const control = changedService(before.services.get(name), after.services.get(name), now);
    if (control) services.set(name, control);
  }
  return { ...after, services };
}

/** What an operator has set of a service, after it was changed into what is given. */
export function changedService(
  before: ServiceControl | undefined,
  { paused, limits, handlers = {} }: ServiceControl = {},
  now: number,
): ServiceControl | undefined {
  let control = changedControl(before, { paused: paused ?? false, ...changesTo(limits) }, now);
  for (
    const handler of new Set([...Object.keys(control?.handlers ?? {}), ...Object.keys(handlers)])
  ) {
    control = changedHandler(control, handler, changesTo(handlers[handler]), now);
  }
  return control;
}

function changesTo({ concurrency, rate }: Limits = {}) {
  return { concurrency: concurrency ?? null, rate: rate ?? null };
}
