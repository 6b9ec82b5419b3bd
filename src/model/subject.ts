import type { Subject } from "./command.ts";
import { newInvocationId } from "./id.ts";

/**
 * The id of the invocation that a subject names
 * (docs/spec/service-protocol.md#ids-of-named-invocations): it is computed, so the
 * invocation may not exist.
 */
export function idOf(subject: Subject): string {
  switch (subject.by) {
    case "invocation":
      return subject.id;
    case "workflow":
      return computed({ ...subject, handler: "", isWorkflowRun: true });
    case "idempotencyKey":
      return computed({ ...subject, isWorkflowRun: false });
  }
}

/** A deterministic id needs no randomness. */
const NO_ENTROPY = new Uint8Array(16);

function computed(identity: Parameters<typeof newInvocationId>[0]): string {
  return newInvocationId(identity, NO_ENTROPY, 0).id;
}
