import type { Subject } from "./command.ts";
import { newInvocationId } from "./id.ts";

/**
 * The id of the invocation that a subject names
 * (docs/spec/service-protocol.md#ids-of-named-invocations): computed, so it says nothing about
 * whether there is one.
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

/** Nothing is drawn for an id that is the same each time. */
const NO_ENTROPY = new Uint8Array(16);

function computed(identity: Parameters<typeof newInvocationId>[0]): string {
  return newInvocationId(identity, NO_ENTROPY, 0).id;
}
