import { type Infer, Struct } from "superstruct";
import type { DeploymentChoice, Operation } from "../engine/event.ts";
import { Failure } from "../errors.ts";
import { BadId, parseInvocationId } from "../model/id.ts";
import type { Operated } from "../ports.ts";
import { ref } from "./openapi/answers.ts";
import { type Operating, restart, resume } from "./invocations.ts";
import { refusalOf } from "./operation_refusals.ts";
import { parseDeployment } from "./parameter.ts";
import { badField, wrongShape } from "./refusals.ts";
import { reply } from "./reply.ts";
import { type Routes, withBody } from "./route.ts";
import { about, described, fields, list, maybe, text } from "./shapes.ts";

/** Invocations that one batch may name. Beyond it: 400 (http-api §3.6). */
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

const body = fields({
  invocation_ids: described(new Struct(list), {
    type: "array",
    items: { type: "string" },
    maxItems: batchIdsMax,
  }),
  deployment: about(maybe(text), "Of resume and restart: 'Latest', 'Keep' or an id."),
});

/**
 * The routes of operations on many invocations at once (http-api §3.2). Always 200: each member
 * succeeds or fails on its own, and is told apart in the answer.
 */
export function batchRoutes(operating: Operating): Routes {
  const begins: Readonly<Record<string, Begin>> = {
    cancel: () => ({ kind: "cancel" }),
    kill: () => ({ kind: "kill" }),
    pause: () => ({ kind: "pause" }),
    purge: () => ({ kind: "purge" }),
    "purge-journal": () => ({ kind: "purgeJournal" }),
    resume: (_id, { deployment }) => resume(deployment),
    "restart-as-new": (id, { deployment }) => restart(operating, id, { from: 0, deployment }),
  };
  const routes = Object.entries(begins).map(([name, begin]) => {
    const id = `batch_${name.replaceAll("-", "_")}_invocations`;
    const shown = { ...ABOUT, id, summary: `Does '${name}' to each of many invocations` };
    const route = withBody(shown, body, (_call, given) => operateAll(operating, given, begin));
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
  operating: Operating,
  given: Infer<typeof body>,
  begin: Begin,
): Promise<Response> {
  const batch = parseBatch(given);
  const outcomes = await Promise.all(
    batch.ids.map((id) => operateOne(operating, id, begin(id, batch))),
  );
  return reply(200, {
    succeeded: outcomes.flatMap((one) => "succeeded" in one ? [one.succeeded] : []),
    failed: outcomes.flatMap((one) => "failed" in one ? [one.failed] : []),
  });
}

async function operateOne(
  { invocations, registry }: Operating,
  id: string,
  operation: Operation,
): Promise<Outcome> {
  try {
    const operated = await invocations.operate(id, operation);
    const schema = registry.schema();
    const refusal = refusalOf(id, operated, { operation, schema });
    if (refusal) return failure(id, batchMessage(id, operated, refusal));
    if (operation.kind !== "restart") return { succeeded: id };
    return { succeeded: { old_invocation_id: id, new_invocation_id: operated.id } };
  } catch (error) {
    // One that could not be asked does not hide what became of the others.
    if (!(error instanceof Failure)) throw error;
    return failure(id, error.message);
  }
}

function failure(id: string, error: string): Outcome {
  return { failed: { invocation_id: id, error } };
}

/** Batches say the same in slightly other words (http-api §3.6, batch sample). */
function batchMessage(id: string, { status }: Operated, { message }: Failure): string {
  if (status === "unknown") return `Invocation '${id}' not found`;
  return message.replace(/^The invocation/, "Invocation").replace(/\.$/, "");
}

/**
 * Throws a `Failure`: 422 with the path to what has the wrong shape, 400 for too many ids or for what
 * is no deployment (seen of the reference).
 */
function parseBatch({ invocation_ids: ids, deployment }: Infer<typeof body>): Batch {
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
