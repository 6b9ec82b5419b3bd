import type { InvocationRow, Pin } from "../model/invocation.ts";
import {
  type Deployment,
  type EffectiveOptions,
  handlerIn,
  type Schema,
  type ServiceSchema,
} from "../model/schema.ts";
import { negotiate, PROTOCOL_MAX, PROTOCOL_MIN } from "../model/protocol.ts";
import { type Failed, failed } from "./failed.ts";

/** The deployment that an attempt runs on, and the limits that hold for it. */
export interface Plan {
  readonly deployment: Deployment;
  readonly pin: Pin;
  /** Whether the request ends with the replay (docs/spec/service-protocol.md#modes). */
  readonly requestResponse: boolean;
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

/**
 * The deployment, protocol version and timeouts of an attempt
 * (docs/spec/service-protocol.md#start-of-an-attempt): those of its pin, else of the newest
 * registration. `protocolMax`: the newest version to use when there is a choice, unless the
 * invocation has a scope: handlers see that in version 7 only. Returns the failure of the attempt when
 * none fits.
 */
export function choose(
  schema: Schema,
  invocation: Pick<InvocationRow, "target" | "pin">,
  protocolMax: number,
): Plan | Failed {
  const { target, pin } = invocation;
  const latest = pin ? undefined : schema.latest(target.service);
  const deployment = schema.deployments.get(pin?.deployment ?? latest?.deployment ?? "");
  if (!deployment) {
    return failed("RT0011", "no deployment was found to process the invocation", {
      reached: false,
    });
  }
  // A handler that was not told the scope would take the call of one tenant for that of none.
  const most = target.scope === undefined ? protocolMax : PROTOCOL_MAX;
  const protocol = pin ? pinnedProtocol(pin, deployment) : newProtocol(deployment, most);
  if (typeof protocol !== "number") return protocol;
  const service = latest ?? schema.at(deployment.id, target.service);
  const { inactivityTimeoutMs, abortTimeoutMs } = timeouts(schema, service, target.handler);
  return {
    deployment,
    pin: pin ?? { deployment: deployment.id, protocol },
    requestResponse: deployment.mode === "requestResponse" || inactivityTimeoutMs === 0,
    inactivityTimeoutMs,
    abortTimeoutMs,
  };
}

/**
 * A deployment that was updated in place may no longer support a version that it supported before.
 */
function pinnedProtocol(
  { protocol }: Pin,
  { id, minProtocol, maxProtocol }: Deployment,
): number | Failed {
  const refused = (who: string, min: number, max: number) =>
    failed(
      "RT0014",
      `cannot resume the invocation: it was started with service protocol version '${protocol}', ` +
        `and ${who} speaks versions [${min}, ${max}]`,
      { reached: false },
    );
  if (protocol < PROTOCOL_MIN || protocol > PROTOCOL_MAX) {
    return refused("this server", PROTOCOL_MIN, PROTOCOL_MAX);
  }
  if (protocol < minProtocol || protocol > maxProtocol) {
    return refused(`deployment '${id}'`, minProtocol, maxProtocol);
  }
  return protocol;
}

function newProtocol(deployment: Deployment, protocolMax: number): number | Failed {
  const { id, minProtocol, maxProtocol } = deployment;
  return negotiate(minProtocol, maxProtocol, protocolMax) ?? failed(
    "RT0013",
    `cannot talk to deployment '${id}': its service protocol versions [${minProtocol}, ` +
      `${maxProtocol}] have none in common with this server's [${PROTOCOL_MIN}, ${PROTOCOL_MAX}]`,
    { reached: false },
  );
}

/**
 * A handler that its deployment no longer serves is tried nevertheless: the endpoint refuses it.
 */
function timeouts(
  schema: Schema,
  service: ServiceSchema | undefined,
  handler: string,
): Pick<EffectiveOptions, "inactivityTimeoutMs" | "abortTimeoutMs"> {
  const found = service && handlerIn(service, handler);
  return service && found ? schema.options(service, found) : schema.orphanOptions;
}
