import type { DeploymentChoice, Operation } from "../engine/event.ts";
import { BadId, parseInvocationId, siblingInvocationId } from "../model/id.ts";
import type { Invocations, Operated, Random } from "../ports.ts";
import { refusalOf } from "./operation_refusals.ts";
import { readDeployment, readFrom, readQuery } from "./query.ts";
import { badField, badQuery } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { empty, reply } from "./reply.ts";
import type { Call, Handle, Routes } from "./route.ts";

/** What operations need: the partitions, what is registered, and what fresh ids are made of. */
export interface Operating {
  readonly invocations: Pick<Invocations, "operate">;
  readonly registry: Pick<Registry, "schema">;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The routes of operations on one invocation (http-api §3.2, §3.6). */
export function invocationRoutes(operating: Operating): Routes {
  const on = (read: (call: Call, id: string) => Operation): Handle => (call) =>
    operate(operating, call, read);
  const of = (kind: "cancel" | "kill" | "pause" | "purge" | "purgeJournal") => on(() => ({ kind }));
  return {
    "/invocations/:invocation": { DELETE: (call) => remove(operating, call) },
    "/invocations/:invocation/cancel": { PATCH: of("cancel") },
    "/invocations/:invocation/kill": { PATCH: of("kill") },
    "/invocations/:invocation/pause": { PATCH: of("pause") },
    "/invocations/:invocation/purge": { PATCH: of("purge") },
    "/invocations/:invocation/purge-journal": { PATCH: of("purgeJournal") },
    "/invocations/:invocation/resume": { PATCH: on((call) => resume(readDeployment(call))) },
    "/invocations/:invocation/restart-as-new": {
      PATCH: on((call, id) =>
        restart(operating, id, { from: readFrom(call), deployment: readDeployment(call) })
      ),
    },
  };
}

/** Goes on with a journal, where it is pinned unless told otherwise. */
export function resume(deployment: DeploymentChoice | undefined): Operation {
  return { kind: "resume", ...(deployment && { deployment }) };
}

/**
 * Repeats an invocation under a fresh id of the same partition, on the latest deployment unless
 * told otherwise. `id` is well formed.
 */
export function restart(
  { random, now }: Operating,
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
  { invocations, registry }: Operating,
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

const MODES: ReadonlyMap<string, "cancel" | "kill" | "purge"> = new Map(
  [
    ["Cancel", "cancel"],
    ["cancel", "cancel"],
    ["Kill", "kill"],
    ["kill", "kill"],
    ["Purge", "purge"],
    ["purge", "purge"],
  ] as const,
);

/** Deprecated. Answers 202 whatever becomes of it, for unknown invocations too (§3.2). */
async function remove({ invocations }: Operating, call: Call): Promise<Response> {
  const id = invocationIdOf(call);
  const kind = MODES.get(readQuery(call, "mode") ?? "Cancel");
  if (!kind) throw badQuery("mode", "expected 'Cancel', 'Kill' or 'Purge'");
  await invocations.operate(id, { kind });
  return empty(202);
}

function invocationIdOf({ params }: Call): string {
  const id = params["invocation"] ?? "";
  try {
    parseInvocationId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw badField("invocation_id", cause.message, { cause });
  }
  return id;
}
