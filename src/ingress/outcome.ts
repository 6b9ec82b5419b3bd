import { handlerIn } from "../model/schema.ts";
import type { Attached } from "../ports.ts";
import { requireCall } from "./authorize.ts";
import { failed, noOutput, succeeded } from "./response.ts";
import { readBody } from "./body.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { OutcomeRoute } from "./path.ts";
import { idOfTarget, parseTarget, type TargetObject } from "./target_object.ts";

/**
 * Waits for the result of an invocation that another request began, and answers as its call would
 * have been answered (docs/spec/ingress.md#attach-output-and-lookup). There is no time limit; the
 * wait of a caller that leaves is dropped. Throws `Failure`.
 */
export async function attach(
  setup: Setup,
  inbound: Inbound,
  route: OutcomeRoute,
): Promise<Response> {
  const { caller, request } = inbound;
  const id = idOfTarget(await nameOf(setup, inbound, route));
  const attached = await setup.invocations.attach(
    id,
    (leave) => setup.reader.onLeave(request, leave),
  );
  const found = attached && toAnswer(setup, inbound, { id, attached });
  return found ?? failed(caller, { id }, { code: 404, message: "not found" });
}

/**
 * The result of an invocation if it has one, otherwise at once that it has none
 * (docs/spec/ingress.md#attach-output-and-lookup). Throws `Failure`.
 */
export async function output(
  setup: Setup,
  inbound: Inbound,
  route: OutcomeRoute,
): Promise<Response> {
  const { caller } = inbound;
  const id = idOfTarget(await nameOf(setup, inbound, route));
  const attached = await setup.invocations.output(id);
  if (attached === "notReady") return noOutput(caller, "notReady");
  const found = attached === "unknown" ? undefined : toAnswer(setup, inbound, { id, attached });
  return found ?? noOutput(caller, "notFound");
}

async function nameOf(
  setup: Setup,
  inbound: Inbound,
  { subject }: OutcomeRoute,
): Promise<TargetObject> {
  return subject.by === "body" ? parseTarget(await readBody(setup, inbound)) : { subject };
}

/**
 * Throws `Failure` 403 when its handler may not be called by who asks. Undefined for a value whose handler is gone: what it declared is what says how to read it. The
 * registry may have changed while the caller waited, so it is read only now.
 */
function toAnswer(
  { schema }: Setup,
  { caller, identity }: Inbound,
  { id, attached }: { readonly id: string; readonly attached: Attached },
): Response | undefined {
  const { result, expiresAt, target } = attached;
  requireCall(identity, target);
  const ref = { id, expiresAt };
  if (result.kind === "failure") return failed(caller, ref, result.failure);
  const service = schema().latest(target.service);
  const handler = service && handlerIn(service, target.handler);
  return handler && succeeded(caller, ref, { value: result.value, output: handler.output });
}
