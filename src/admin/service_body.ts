import type { Infer } from "superstruct";
import { parseDuration } from "../model/duration.ts";
import type { ServiceChanges } from "./change_service.ts";
import { limitFields, parseRate } from "./limits_body.ts";
import type { ControlChanges, LimitChanges } from "./service_control.ts";
import { duration, fields, flag, maybe, withDescription } from "./shapes.ts";

/** Limits, for as long as they are not changed. Absent: as it is. */
const controlFields = {
  concurrency: withDescription(
    limitFields.concurrency,
    "Invocations that may run at once, whichever deployments serve it. Null: unlimited.",
  ),
  rate: withDescription(
    limitFields.rate,
    "Invocations that may start in a time. Null: unlimited.",
  ),
};

/**
 * The body of `PATCH /services/{name}` (docs/spec/admin.md#services). Absent: as it is. Null: the same,
 * but of limits.
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
  paused: withDescription(
    maybe(flag),
    "Whether its invocations wait. What runs goes on until it ends or suspends.",
  ),
  ...controlFields,
});

/** The body of `PATCH /services/{name}/handlers/{handler}` (docs/spec/admin.md#limits-of-services). */
export const changeHandlerBody = fields(controlFields);

/** Reads changes of limits. Null: unlimited from now on. */
export function parseLimits(
  { concurrency, rate }: Infer<typeof changeHandlerBody>,
): LimitChanges {
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rate !== undefined && { rate: rate && parseRate(rate) }),
  };
}

/** Reads changes of what may run of a service, or answers undefined when nothing changes. */
export function parseControls(body: Infer<typeof changeBody>): ControlChanges | undefined {
  const changes = { ...parseLimits(body), ...(body.paused != null && { paused: body.paused }) };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** Reads a change of the options of a service, or answers undefined when nothing changes. */
export function parseChanges(body: Infer<typeof changeBody>): ServiceChanges | undefined {
  const { workflow_completion_retention: workflow } = body;
  const options = {
    idempotencyRetentionMs: body.idempotency_retention,
    journalRetentionMs: body.journal_retention,
    inactivityTimeoutMs: body.inactivity_timeout,
    abortTimeoutMs: body.abort_timeout,
  };
  if (
    body.public == null && workflow == null && Object.values(options).every((one) => one == null)
  ) {
    return undefined;
  }
  const set = Object.entries(options).flatMap(([name, text]) =>
    text == null ? [] : [[name, parseDuration(text)]]
  );
  return {
    ...(body.public != null && { public: body.public }),
    options: Object.fromEntries(set),
    ...(workflow != null && { workflowRetentionMs: parseDuration(workflow) }),
  };
}
