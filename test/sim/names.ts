import { type InvocationIdentity, newInvocationId } from "../../src/model/id.ts";
import { idOf } from "../../src/model/subject.ts";
import { targetOf } from "./schema.ts";
import type { World } from "./world.ts";

/** Well-formed, and of no invocation. */
export const NOBODY = idOf({
  by: "idempotencyKey",
  service: "nobody",
  handler: "nothing",
  idempotencyKey: "never",
});

/** An unused id, in the partition of `path`. */
export function freshId({ chance, wall }: World, path: string): string {
  return newInvocationId(identityOf(path), chance.bytes(16), wall).id;
}

/** The id of whoever asks for `path` with this key, again and again. */
export function idempotentId(path: string, idempotencyKey: string): string {
  return newInvocationId({ ...identityOf(path), idempotencyKey }, new Uint8Array(16), 0).id;
}

/** The id of a workflow's one run. */
export function workflowId(key: string): string {
  return idOf({ by: "workflow", service: "flow", key });
}

function identityOf(path: string): InvocationIdentity {
  const { service, handler, key, scope } = targetOf(path);
  const head = { service, handler, isWorkflowRun: false, scope };
  return key === undefined ? head : { ...head, key };
}
