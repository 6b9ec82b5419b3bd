import type { Infer } from "superstruct";
import { parseDuration } from "../model/duration.ts";
import type { ServiceChanges } from "./change_service.ts";
import { duration, fields, flag, maybe, withDescription } from "./shapes.ts";

/**
 * The body of `PATCH /services/{name}` (docs/spec/admin.md#services). Absent and null: as it is.
 */
export const changeBody = fields({
  public: withDescription(maybe(flag), "Whether it can be called through the ingress."),
  idempotency_retention: withDescription(
    maybe(duration),
    "How long results are kept for idempotency keys, of calls to come.",
  ),
  workflow_completion_retention: withDescription(
    maybe(duration),
    "How long results of workflows are kept. Of workflows only.",
  ),
  journal_retention: withDescription(
    maybe(duration),
    "How long journals are kept, of calls to come.",
  ),
  inactivity_timeout: withDescription(
    maybe(duration),
    "Inactivity after which an attempt is asked to suspend.",
  ),
  abort_timeout: withDescription(
    maybe(duration),
    "Inactivity after that, after which it is aborted.",
  ),
});

/** Reads a change of a service, or answers undefined when nothing changes. */
export function parseChanges(body: Infer<typeof changeBody>): ServiceChanges | undefined {
  if (Object.keys(changeBody.schema).every((name) => body[name as keyof typeof body] == null)) {
    return undefined;
  }
  const { workflow_completion_retention: workflow } = body;
  const options = {
    idempotencyRetentionMs: body.idempotency_retention,
    journalRetentionMs: body.journal_retention,
    inactivityTimeoutMs: body.inactivity_timeout,
    abortTimeoutMs: body.abort_timeout,
  };
  const set = Object.entries(options).flatMap(([name, text]) =>
    text == null ? [] : [[name, parseDuration(text)]]
  );
  return {
    ...(body.public != null && { public: body.public }),
    options: Object.fromEntries(set),
    ...(workflow != null && { workflowRetentionMs: parseDuration(workflow) }),
  };
}
