import { Failure } from "../errors.ts";
import { check, toRequest } from "./accept.ts";
import { failed, succeeded } from "./response.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { InvokeRoute } from "./path.ts";

/**
 * Runs a handler and answers with its result (docs/spec/ingress.md#calls-and-sends). Throws
 * `Failure`.
 */
export async function call(
  setup: Setup,
  inbound: Inbound,
  route: InvokeRoute,
): Promise<Response> {
  const { caller, schema, request } = inbound;
  const checked = await check(setup, inbound, route);
  if (checked.delayMs !== undefined) {
    throw Failure.plain(
      400,
      "cannot use the delay query parameter with calls. The delay is supported only with sends",
    );
  }
  const invocation = toRequest(setup, schema, checked);
  const answer = setup.invocations.call(
    invocation,
    (leave) => setup.reader.onLeave(request, leave),
  );
  checked.span?.follow(answer, invocation);
  const { result, expiresAt } = await answer;
  const ref = { id: invocation.id, expiresAt };
  if (result.kind === "failure") return failed(caller, ref, result.failure);
  return succeeded(caller, ref, { value: result.value, output: checked.handler.output });
}
