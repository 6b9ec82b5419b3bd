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
