import type { Config } from "../../src/config.ts";
import { descriptors } from "../platform/descriptors.ts";
import type { PortLimits } from "../platform/listener.ts";

/**
 * The part of this process's file descriptors that connections of an interface may take. The rest is
 * for the database, for endpoints, and for queries.
 */
const DESCRIPTOR_SHARES = { ingress: 0.75, admin: 0.1 } as const;
/** So few must do for an interface, however few descriptors there are. */
const CONNECTIONS_LEAST = 16;

/**
 * What clients of an interface may send and hold. Processes of a fleet have the limits of callers.
 * `listeners`: how many threads listen on the port. What clients hold of the process is shared by them.
 */
export function portLimits(
  what: "ingress" | "admin" | "fleet",
  config: Config,
  listeners = 1,
): PortLimits {
  const name = what === "fleet" ? "ingress" : what;
  const share = Math.floor((descriptors()?.max ?? Infinity) * DESCRIPTOR_SHARES[name]);
  return {
    connectionsMax: Math.ceil(
      Math.min(config[`${name}.connections-limit`], Math.max(CONNECTIONS_LEAST, share)) / listeners,
    ),
    unreadBytesMax: config[`${name}.unread-answers-size-limit`] / listeners,
    unreadConnectionBytesMax: config[`${name}.unread-answers-size-limit-per-connection`],
    unreadTimeoutMs: config[`${name}.unread-answers-timeout`],
    headBytesMax: config[`${name}.head-size-limit`],
    headLinesMax: config[`${name}.head-lines-limit`],
    headTimeoutMs: config[`${name}.head-timeout`],
    requestTimeoutMs: config[`${name}.request-timeout`],
    streamResetsMax: config[`${name}.stream-resets-limit`],
  };
}
