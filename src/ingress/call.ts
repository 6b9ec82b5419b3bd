import { Failure } from "../errors.ts";
import type { HandlerSchema } from "../model/schema.ts";
import { check, toRequest } from "./accept.ts";
import { failed, succeeded } from "./answer.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { InvokeRoute } from "./path.ts";

/** Runs a handler and answers with its result (http-api §2.3 to §2.5). Throws `Failure`. */
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
  const { result, expiresAt } = await setup.invocations.call(
    invocation,
    (leave) => setup.reader.onLeave(request, leave),
  );
  const answered = { id: invocation.id, expiresAt };
  if (result.kind === "failure") return failed(caller, answered, result.failure);
  const { value } = result;
  const contentType = outputType(checked.handler, value.length === 0);
  return succeeded(caller, answered, { value, contentType });
}

/** The declared content type; a handler without a declaration speaks JSON (§2.3). */
function outputType({ output }: HandlerSchema, isEmpty: boolean): string | undefined {
  if (isEmpty && !output?.setContentTypeIfEmpty) return undefined;
  return output ? output.contentType : "application/json";
}
