import { type Infer, unknown } from "superstruct";
import { Failure } from "../errors.ts";
import type { Result } from "../model/journal.ts";
import { idOf } from "../model/subject.ts";
import type { Invocations } from "../ports.ts";
import { SERVICE_TYPES } from "./records.ts";
import { missing, quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { empty } from "./reply.ts";
import { type Call, type RouteDoc, type Routes, withBody } from "./route.ts";
import { described, fields, maybe, text, withDescription } from "./shapes.ts";
import { bytesOf, checkScope, value } from "./state_body.ts";

export interface PromiseDeps {
  readonly registry: Registry;
  readonly invocations: Pick<Invocations, "completePromise">;
}

const promise = {
  object_key: withDescription(text, "The id of the workflow."),
  name: withDescription(text, "The name of the promise."),
  scope: withDescription(
    maybe(text),
    "The scope of the workflow. It needs the setting `experimental-enable-vqueues`.",
  ),
};
const resolveBody = fields({
  ...promise,
  value: described(unknown(), {
    ...value,
    description: "What its handlers read: bytes, or a text that stands for its UTF-8.",
  }),
});
const rejectBody = fields({
  ...promise,
  message: withDescription(text, "Why: the message of the failure, whose code is 500."),
});
/** What both bodies have. */
type Given = Pick<Infer<typeof rejectBody>, keyof typeof promise>;

const ABOUT: Omit<RouteDoc, "id" | "summary"> = {
  tag: "service",
  answers: { 200: ["It is completed, durably and for good"] },
  refusals: [404, 409, 503],
};
const RESOLVE: RouteDoc = {
  ...ABOUT,
  id: "resolve_workflow_promise",
  summary: "Resolve a durable promise of a workflow, in place of one of its handlers",
};
const REJECT: RouteDoc = {
  ...ABOUT,
  id: "reject_workflow_promise",
  summary: "Reject a durable promise of a workflow, in place of one of its handlers",
};

/**
 * The routes that complete promises of workflows. They are this server's own, for its UI
 * (docs/spec/admin.md#promises-of-a-workflow, decision 080).
 */
export function promiseRoutes(deps: PromiseDeps): Routes {
  const base = "/internal/services/:service/promises";
  return {
    [`${base}/resolve`]: {
      POST: withBody(RESOLVE, resolveBody, (call, body) => {
        const result = { kind: "value", value: bytesOf("value", body.value) } as const;
        return complete(deps, call, { body, result });
      }),
    },
    [`${base}/reject`]: {
      POST: withBody(REJECT, rejectBody, (call, body) => {
        const { message } = body;
        const result = { kind: "failure", failure: { code: 500, message } } as const;
        return complete(deps, call, { body, result });
      }),
    },
  };
}

async function complete(
  { registry, invocations }: PromiseDeps,
  { params, audited }: Call,
  { body, result }: { readonly body: Given; readonly result: Result },
): Promise<Response> {
  const { object_key: key, name } = body;
  audited.note("object_key", key);
  audited.note("promise", name);
  const service = serviceOf(registry, params["service"] ?? "");
  if (body.scope != null) {
    checkScope(body.scope, "workflow", registry.schema().defaults.flowControl);
  }
  const object = { service, key, ...(body.scope != null && { scope: body.scope }) };
  const run = idOf({ by: "workflow", ...object });
  const taken = await invocations.completePromise({ object, name, run }, result);
  if (taken === "done") return empty(200);
  const what = `Cannot complete the promise ${quote(name)} of ${quote(`${service}/${key}`)}`;
  throw taken === "completed"
    ? Failure.plain(409, `${what}: it was completed before`)
    : Failure.plain(404, `${what}: no run of the workflow is stored, and nothing has used it`);
}

/** The name of a workflow that is registered. */
function serviceOf(registry: Registry, name: string): string {
  const service = registry.schema().latest(name);
  if (!service) throw missing("service", name);
  if (service.type === "workflow") return name;
  const type = SERVICE_TYPES[service.type];
  throw Failure.plain(400, `Cannot complete promises of service type ${type}: it has none`);
}
