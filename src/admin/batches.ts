import { type Infer, Struct } from "superstruct";
import type { DeploymentChoice, Operation } from "../engine/event.ts";
import { Failure } from "../errors.ts";
import { BadId, parseInvocationId } from "../model/id.ts";
import type { Operated } from "../ports.ts";
import { ref } from "./openapi/answers.ts";
import { type OperationDeps, restart, resume } from "./invocations.ts";
import { refusalOf } from "./operation_refusals.ts";
import { parseDeployment } from "./parameter.ts";
import { badField, wrongShape } from "./refusals.ts";
import { reply } from "./reply.ts";
import { type Routes, withBody } from "./route.ts";
import { described, fields, list, maybe, text, withDescription } from "./shapes.ts";

/**
 * Invocations that one batch may name. Beyond it: 400
 * (docs/spec/admin.md#operations-on-invocations).
 */
export const batchIdsMax = 1000;

/** A batch as it was asked for: well-formed ids, in order. */
interface Batch {
  readonly ids: readonly string[];
  readonly deployment: DeploymentChoice | undefined;
}

/** What became of one member, as it is printed. */
type Outcome =
  | { readonly succeeded: string | Readonly<Record<string, string>> }
  | { readonly failed: { readonly invocation_id: string; readonly error: string } };

const ids = described(new Struct(list), {
  type: "array",
  items: { type: "string" },
  maxItems: batchIdsMax,
});
const body = fields({ invocation_ids: ids });
/** Of resume and restart only: to all others a deployment is a field like any they do not know. */
const bodyOnDeployment = fields({
  invocation_ids: ids,
  deployment: withDescription(maybe(text), "'Latest', 'Keep' or an id."),
});

/** What either struct lets through. */
type Given = Infer<typeof body> & Partial<Infer<typeof bodyOnDeployment>>;

/**
 * The routes of operations on many invocations at once (docs/spec/admin.md#operations). Always 200:
 * each member succeeds or fails on its own, and the answer reports each one.
 */
export function batchRoutes(deps: OperationDeps): Routes {
  const begins: Readonly<Record<string, Begin>> = {
    cancel: () => ({ kind: "cancel" }),
    kill: () => ({ kind: "kill" }),
    pause: () => ({ kind: "pause" }),
    purge: () => ({ kind: "purge" }),
    "purge-journal": () => ({ kind: "purgeJournal" }),
  };
  const beginsOnDeployment: Readonly<Record<string, Begin>> = {
    resume: (_id, { deployment }) => resume(deployment),
    "restart-as-new": (id, { deployment }) => restart(deps, id, { from: 0, deployment }),
  };
  return {
    ...routesOf(deps, begins, body),
    ...routesOf(deps, beginsOnDeployment, bodyOnDeployment),
  };
}

function routesOf(
  deps: OperationDeps,
  begins: Readonly<Record<string, Begin>>,
  shape: typeof body | typeof bodyOnDeployment,
): Routes {
  const routes = Object.entries(begins).map(([name, begin]) => {
    const id = `batch_${name.replaceAll("-", "_")}_invocations`;
    const shown = { ...ABOUT, id, summary: `Does '${name}' to each of many invocations` };
    const route = withBody(shown, shape, ({ audited }, read) => {
      // What a struct does not name it lets through.
      const given: Given = shape === body ? { invocation_ids: read.invocation_ids } : read;
      audited.noteAll(
        "invocation_ids",
        given.invocation_ids.filter((id) => typeof id === "string"),
      );
      return operateAll(deps, given, begin);
    });
    return [`/internal/invocations_batch_operations/${name}`, { POST: route }] as const;
  });
  return Object.fromEntries(routes);
}

type Begin = (id: string, batch: Batch) => Operation;

const ABOUT = {
  tag: "invocation",
  answers: { 200: ["What became of each", ref("BatchOperationResult")] },
} as const;

async function operateAll(
  deps: OperationDeps,
  given: Given,
  begin: Begin,
): Promise<Response> {
  const batch = parseBatch(given);
  const outcomes = await Promise.all(
    batch.ids.map((id) => operateOne(deps, id, begin(id, batch))),
  );
  return reply(200, {
    succeeded: outcomes.flatMap((one) => "succeeded" in one ? [one.succeeded] : []),
    failed: outcomes.flatMap((one) => "failed" in one ? [one.failed] : []),
  });
}

async function operateOne(
  { invocations, registry }: OperationDeps,
  id: string,
  operation: Operation,
): Promise<Outcome> {
  try {
    const operated = await invocations.operate(id, operation);
    const schema = registry.schema();
    const refusal = refusalOf(id, operated, { operation, schema });
    if (refusal) {
      const { message } = refusal;
      return failure(id, batchMessage(id, operated, { message, kind: operation.kind }));
    }
    if (operation.kind !== "restart") return { succeeded: id };
    return { succeeded: { old_invocation_id: id, new_invocation_id: operated.id } };
  } catch (error) {
    // One that failed otherwise does not hide the outcomes of the others.
    if (!(error instanceof Failure)) throw error;
    return failure(id, error.message);
  }
}

function failure(id: string, error: string): Outcome {
  return { failed: { invocation_id: id, error } };
}

/**
 * Batches say the same in fewer words (docs/spec/admin.md#operations-on-invocations; seen of the
 * reference).
 */
function batchMessage(
  id: string,
  { status }: Operated,
  { message, kind }: { readonly message: string; readonly kind: Operation["kind"] },
): string {
  if (status === "unknown") return `Invocation '${id}' not found`;
  if (status === "noRestart") return `Restarting invocation '${id}' is not supported`;
  if (status === "noInput") {
    return `Invocation '${id}' cannot be restarted because the input is not available`;
  }
  if (status === "unknownDeployment") {
    const verb = kind === "restart" ? "restarting" : "resuming";
    return `Deployment not found when ${verb} invocation '${id}'`;
  }
  return message.replace(/^The invocation/, "Invocation").replace(/\.$/, "");
}

/**
 * Throws a `Failure`: 422 with the path to what has the wrong shape, 400 for too many ids or for what
 * is no deployment (seen of the reference).
 */
function parseBatch({ invocation_ids: ids, deployment }: Given): Batch {
  if (ids.length > batchIdsMax) {
    throw Failure.plain(
      400,
      `Batch size ${ids.length} exceeds maximum allowed size of ${batchIdsMax}`,
    );
  }
  return {
    ids: ids.map(checkInvocationId),
    deployment: deployment == null ? undefined : parse(deployment, parseDeployment, badDeployment),
  };
}

function checkInvocationId(id: unknown, place: number): string {
  const path = `invocation_ids.${place}`;
  if (typeof id !== "string") throw wrongShape(path, "expected a string");
  parse(id, parseInvocationId, (reason, options) => wrongShape(path, reason, options));
  return id;
}

/** What is thrown for a text that is no id. */
type Refuse = (reason: string, options: ErrorOptions) => Failure;

const badDeployment: Refuse = (reason, options) => badField("deployment", reason, options);

function parse<T>(text: string, parser: (text: string) => T, refuse: Refuse): T {
  try {
    return parser(text);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw refuse(cause.message, { cause });
  }
}
