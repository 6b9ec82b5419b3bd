import { Failure } from "../errors.ts";

/**
 * Flow control is not offered, and a call that relies on it must not run without
 * (docs/spec/service-protocol.md#refused-commands).
 */
export function refuseScope(): never {
  throw new Failure("RT0024", "Cannot use a scope or a limit key: flow control is not enabled");
}
