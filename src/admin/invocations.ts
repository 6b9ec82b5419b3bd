import type { DeploymentChoice, Operation } from "../engine/event.ts";
import { BadId, parseInvocationId, siblingInvocationId } from "../model/id.ts";
import type { Invocations, Operated, Random } from "../ports.ts";
import { refusalOf } from "./operation_refusals.ts";
import { ref } from "./openapi/answers.ts";
import { deployment, from, mode } from "./parameter.ts";
import { badField } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { empty, reply } from "./reply.ts";
import type { Call, Route, RouteDoc, Routes } from "./route.ts";

/** What operations need: the partitions, what is registered, and what fresh ids are made of. */
export interface OperationDeps {
  readonly invocations: Pick<Invocations, "operate">;
  readonly registry: Pick<Registry, "schema">;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const tag = "invocation";

/** Every operation may find none, or one in the wrong state; and the partition may be stopping. */
const refusals = [404, 409, 503];

/** The routes of operations on one invocation (docs/spec/admin.md#operations-on-invocations). */
export function invocationRoutes(deps: OperationDeps): Routes {
  const on = (about: Omit<RouteDoc, "tag">, read: (call: Call, id: string) => Operation) => ({
    PATCH: {
      tag,
      refusals,
      ...about,
      handle: (call: Call) => operate(deps, call, read),
    },
  });
  const path = "/invocations/:invocation_id";
  return {
    [path]: { DELETE: deleting(deps) },
    [`${path}/cancel`]: on(CANCEL, () => ({ kind: "cancel" })),
    [`${path}/kill`]: on(KILL, () => ({ kind: "kill" })),
    [`${path}/pause`]: on(PAUSE, () => ({ kind: "pause" })),
    [`${path}/purge`]: on(PURGE, () => ({ kind: "purge" })),
    [`${path}/purge-journal`]: on(PURGE_JOURNAL, () => ({ kind: "purgeJournal" })),
    [`${path}/resume`]: on(RESUME, (call) => resume(deployment.read(call))),
    [`${path}/restart-as-new`]: on(
      RESTART,
      (call, id) => restart(deps, id, { from: from.read(call), deployment: deployment.read(call) }),
    ),
  };
}

const CANCEL = {
  id: "cancel_invocation",
  summary: "Cancel an invocation: its handler is told, and may clean up",
  answers: { 200: ["Canceled before it began"], 202: ["The handler is told"] },
} as const;
const KILL = {
  id: "kill_invocation",
  summary: "End an invocation at once, and what it has called",
  answers: { 200: ["Killed"] },
} as const;
const PAUSE = {
  id: "pause_invocation",
  summary: "Pause an invocation until it is resumed",
  answers: { 200: ["Paused"], 202: ["It pauses as soon as its attempt is over"] },
} as const;
const PURGE = {
  id: "purge_invocation",
  summary: "Forget a completed invocation",
  answers: { 200: ["Forgotten"] },
} as const;
const PURGE_JOURNAL = {
  id: "purge_journal",
  summary: "Forget the journal of a completed invocation",
  answers: { 200: ["Forgotten"] },
} as const;
const RESUME = {
  id: "resume_invocation",
  summary: "Resume an invocation that is paused, or waits for its next attempt",
  query: [deployment],
  answers: { 200: ["Resumed"] },
  refusals: [404, 409, 425, 503],
} as const;
const RESTART = {
  id: "restart_as_new_invocation",
  summary: "Run a completed invocation again as a new one, from some entry of its journal",
  query: [from, deployment],
  answers: { 200: ["Restarted", ref("RestartAsNewInvocationResponse")] },
  refusals: [404, 409, 410, 422, 425, 503],
} as const;

/** Goes on with a journal, where it is pinned unless told otherwise. */
export function resume(deployment: DeploymentChoice | undefined): Operation {
  return { kind: "resume", ...(deployment && { deployment }) };
}

/**
 * Repeats an invocation under a fresh id of the same partition, on the latest deployment unless
 * told otherwise. `id` is well formed.
 */
export function restart(
  { random, now }: OperationDeps,
  id: string,
  { from, deployment }: {
    readonly from: number;
    readonly deployment: DeploymentChoice | undefined;
  },
): Operation {
  const newId = siblingInvocationId(id, random(ENTROPY_BYTES), now());
  return { kind: "restart", newId, from, ...(deployment && { deployment }) };
}

const ENTROPY_BYTES = 16;

async function operate(
  { invocations, registry }: OperationDeps,
  call: Call,
  read: (call: Call, id: string) => Operation,
): Promise<Response> {
  const id = invocationIdOf(call);
  const operation = read(call, id);
  const operated = await invocations.operate(id, operation);
  const refusal = refusalOf(id, operated, { operation, schema: registry.schema() });
  if (refusal) throw refusal;
  return success(operated, operation);
}

function success({ id, status }: Operated, { kind }: Operation): Response {
  if (kind === "restart") return reply(200, { new_invocation_id: id });
  return empty(status === "underway" ? 202 : 200);
}

/**
 * Deprecated. Answers 202 whatever becomes of it, for unknown invocations too
 * (docs/spec/admin.md#operations).
 */
function deleting({ invocations }: OperationDeps): Route {
  return {
    id: "delete_invocation",
    tag,
    summary: "Cancel, kill or purge an invocation, if there is one",
    deprecated: true,
    query: [mode],
    answers: { 202: ["Taken"] },
    refusals: [503],
    handle: async (call) => {
      const id = invocationIdOf(call);
      await invocations.operate(id, { kind: mode.read(call) });
      return empty(202);
    },
  };
}

function invocationIdOf({ params }: Call): string {
  const id = params["invocation_id"] ?? "";
  try {
    parseInvocationId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw badField("invocation_id", cause.message, { cause });
  }
  return id;
}
