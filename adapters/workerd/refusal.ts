import { dialectsOf, refuse } from "../../src/admin/reply.ts";
import type { Failure } from "../../src/errors.ts";
import { refused } from "../../src/ingress/response.ts";
import { ALIAS, OWN } from "../../src/names.ts";

/** Whose request is refused, which decides the form of the response. */
export type RequestKind = "caller" | "operator";

/** A refusal as the app would make it. For a caller it uses both spellings, as on legacy paths. */
export function refusal(
  who: RequestKind,
  request: Pick<Request, "headers">,
  { status, message, code = null, headers = {} }: Partial<Pick<Failure, "code">> & {
    readonly status: number;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Response {
  return who === "caller"
    ? refused({ dialects: [OWN, ALIAS] }, status, message)
    : refuse({ status, message, code }, dialectsOf(request.headers), headers);
}
