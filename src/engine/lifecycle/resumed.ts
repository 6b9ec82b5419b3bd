import type { InvocationDraft, InvocationRow, Pin } from "../../model/invocation.ts";
import type { Schema } from "../../model/schema.ts";
import type { ReplyStatus } from "../effect.ts";
import type { DeploymentChoice } from "../event.ts";
import type { Turn } from "../turn.ts";
import { unexpired } from "./unexpired.ts";
import { endBackOff } from "./paused.ts";
import { start, wake } from "./started.ts";

/**
 * Continues a paused or waiting invocation, optionally on another deployment
 * (docs/spec/service-protocol.md#pinning). Of a running one, a pause
 * that is requested is revoked.
 */
export function resumed(turn: Turn, id: string, choice?: DeploymentChoice): ReplyStatus {
  const row = unexpired(turn, id);
  if (!row) return "unknown";
  const refused = refusal(row, choice);
  if (refused) return refused;
  const pin = choice && row.pin ? choosePin(turn.schema, row, { choice, pin: row.pin }) : row.pin;
  if (typeof pin === "string") return pin;
  const draft = turn.edit(id);
  if (!draft) return "unknown";
  draft.pin = pin;
  continueRun(turn, draft);
  return "done";
}

function continueRun(turn: Turn, draft: InvocationDraft): void {
  if (draft.status.kind === "invoked") {
    draft.pausing = undefined;
    return;
  }
  // Nobody goes before others because an operator resumes it.
  if (draft.status.kind === "queued") return;
  if (draft.status.kind !== "backingOff") return wake(turn, draft);
  endBackOff(turn, draft);
  // An early retry is a retry: earlier failures still count (seen at the reference).
  start(turn, draft);
}

function refusal(
  { status, pin, runningAt }: InvocationRow,
  choice?: DeploymentChoice,
): ReplyStatus | undefined {
  switch (status.kind) {
    case "completed":
      return "completed";
    case "scheduled":
    case "inboxed":
      return "notStarted";
    case "queued":
      return runningAt === undefined ? "notStarted" : undefined;
    case "invoked":
    case "backingOff":
      return choice && choice.kind !== "keep" ? "notPinned" : undefined;
    default:
      // An invocation without a pin runs on the latest deployment anyway.
      return choice?.kind === "deployment" && !pin ? "notPinned" : undefined;
  }
}

/** The same protocol version on the deployment chosen: a journal cannot change its version. */
export function choosePin(
  schema: Schema,
  { target }: Pick<InvocationRow, "target">,
  { choice, pin }: { readonly choice: DeploymentChoice; readonly pin: Pin },
): Pin | "unknownDeployment" | "otherProtocol" {
  if (choice.kind === "keep") return pin;
  const id = choice.kind === "latest" ? schema.latest(target.service)?.deployment : choice.id;
  const deployment = schema.deployments.get(id ?? "");
  if (!deployment || !schema.at(deployment.id, target.service)) return "unknownDeployment";
  const { minProtocol, maxProtocol } = deployment;
  if (pin.protocol < minProtocol || pin.protocol > maxProtocol) return "otherProtocol";
  return { deployment: deployment.id, protocol: pin.protocol };
}
