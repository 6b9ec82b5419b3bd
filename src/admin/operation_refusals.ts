import { assert } from "../assert.ts";
import type { ReplyStatus } from "../engine/effect.ts";
import type { Operation } from "../engine/event.ts";
import { Failure } from "../errors.ts";
import type { Schema } from "../model/schema.ts";
import type { Operated } from "../ports.ts";
import { missing } from "./refusals.ts";

/** How a refused operation is answered. `%` stands for the invocation's id. */
type Refusal = readonly [status: number, message: string];
type Refusals = Readonly<Partial<Record<ReplyStatus, Refusal>>>;

const COMPLETED: Refusal = [409, "The invocation '%' was already completed."];
const NOT_RUNNING: Refusal = [409, "The invocation '%' is not running, cannot be paused."];
const NOT_COMPLETED: Refusal = [409, "The invocation '%' is not yet completed."];
const STILL_RUNNING: Refusal = [409, "The invocation '%' is still running."];
const NO_CHANGE: Refusal = [
  409,
  "The invocation '%' is still running or the deployment id is not pinned yet, " +
  "deployment id cannot be changed.",
];

/**
 * The cells of the status matrix that refuse, in the words clients know
 * (docs/spec/admin.md#operations-on-invocations).
 */
const REFUSALS: Readonly<Record<Operation["kind"], Refusals>> = {
  cancel: { completed: COMPLETED },
  kill: { completed: COMPLETED },
  // A completed one is not running either, and the answer to clients says so.
  pause: { completed: NOT_RUNNING, notRunning: NOT_RUNNING },
  resume: {
    completed: [409, "The invocation '%' is completed, cannot be resumed."],
    notStarted: [425, "The invocation '%' is either inboxed or scheduled, cannot be resumed."],
    stillRunning: NO_CHANGE,
    notPinned: NO_CHANGE,
    unknownDeployment: [
      400,
      "The given deployment was not found when trying to resume the invocation '%'.",
    ],
  },
  restart: {
    notStarted: [425, "The invocation '%' cannot be restarted because it's not running yet."],
    notCompleted: STILL_RUNNING,
    stillRunning: STILL_RUNNING,
    noInput: [
      410,
      "The invocation '%' cannot be restarted because the input is not available. " +
      "This indicates that the journal was already purged, or not retained at all.",
    ],
    noRestart: [
      422,
      "Restarting the invocation '%' is not supported. Restarting workflows is not supported, " +
      "and restarting invocations created using the old service protocol.",
    ],
    openPrefix: [
      400,
      "The prefix of the journal '%' up to 'from' (included) contains some Commands without " +
      "respective Completions.",
    ],
    unknownDeployment: [
      400,
      "The given deployment was not found when trying to restart as new the invocation '%'.",
    ],
  },
  purge: { notCompleted: NOT_COMPLETED },
  purgeJournal: { notCompleted: NOT_COMPLETED },
};

/**
 * Why an operation on an invocation was not done, or undefined when it was, or is under way. The
 * code is always null. `schema` tells what a chosen deployment speaks.
 */
export function refusalOf(
  id: string,
  operated: Operated,
  { operation, schema }: { readonly operation: Operation; readonly schema: Schema },
): Failure | undefined {
  const { status } = operated;
  if (status === "done" || status === "underway") return undefined;
  if (status === "unknown") return missing("invocation", id);
  if (status === "otherProtocol") {
    return Failure.plain(400, otherProtocol(id, operated, { operation, schema }));
  }
  const refusal = REFUSALS[operation.kind][status];
  assert(refusal, `An operation '${operation.kind}' must not be answered '${status}'`);
  return Failure.plain(refusal[0], refusal[1].replace("%", id));
}

function otherProtocol(
  id: string,
  { target, pin }: Operated,
  { operation, schema }: { readonly operation: Operation; readonly schema: Schema },
): string {
  const choice = "deployment" in operation ? operation.deployment : undefined;
  const latest = schema.latest(target?.service ?? "")?.deployment ?? "";
  const chosen = schema.deployments.get(choice?.kind === "deployment" ? choice.id : latest);
  const range = chosen ? `${chosen.minProtocol}..=${chosen.maxProtocol}` : "unknown";
  return `The invocation '${id}' is running on protocol version '${pin?.protocol}', while the ` +
    `chosen deployment '${chosen?.id}' supports the range ${range}.`;
}
