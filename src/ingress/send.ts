import { check, toRequest } from "./accept.ts";
import { json } from "./response.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { InvokeRoute } from "./path.ts";

/**
 * Hands a request over and answers 202 as soon as it is durable
 * (docs/spec/ingress.md#calls-and-sends). Throws `Failure`.
 */
export async function send(
  setup: Setup,
  inbound: Inbound,
  route: InvokeRoute,
): Promise<Response> {
  const checked = await check(setup, inbound, route);
  const request = toRequest(setup, inbound.schema, checked);
  const answer = setup.invocations.send(request);
  checked.span?.follow(answer, request);
  const accepted = await answer;
  const { id } = accepted;
  const isFirst = accepted.status === "accepted";
  // A repeat is told when the first one starts, whatever delay it asks for itself.
  const startAt = accepted.startAt ?? (isFirst ? request.startAt : undefined);
  const body = {
    invocationId: id,
    executionTime: startAt === undefined ? undefined : printTime(startAt),
    status: isFirst ? "Accepted" : "PreviouslyAccepted",
  };
  return json(inbound.caller, body, { status: 202, id });
}

/** RFC 3339 in UTC with nine digits of a second, as clients know it. */
function printTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000000Z");
}
