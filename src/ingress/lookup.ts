import { json } from "./response.ts";
import { readBody } from "./body.ts";
import type { Inbound, Setup } from "./inbound.ts";
import { idOfTarget, parseTarget } from "./target_object.ts";

/**
 * The id that a target object stands for: computed, so it says nothing about whether there is such
 * an invocation, or even such a service (docs/spec/ingress.md#attach-output-and-lookup). Throws
 * `Failure`.
 */
export async function lookup(setup: Setup, inbound: Inbound): Promise<Response> {
  const named = parseTarget(await readBody(setup, inbound));
  return json(inbound.caller, { invocationId: idOfTarget(named) }, { status: 200 });
}
