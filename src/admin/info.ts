import { printDuration } from "../model/duration.ts";
import type { Deployment, HandlerOptions, SchemaLimits } from "../model/schema.ts";

/**
 * A remark on a service or handler: something it asks for is not what it gets
 * (docs/spec/admin.md#services).
 */
export interface Info {
  readonly code: "RT0021" | "RT0022";
  readonly message: string;
}

export interface InfoOptions {
  readonly mode: Deployment["mode"];
  readonly what: "service" | "handler";
  readonly limits: SchemaLimits | undefined;
}

/**
 * Remarks on options, in the order of the reference server. `own`: what is set by the service or
 * handler itself. `wanted`: retentions before they are cut down, of a service those it inherits as
 * well. Undefined: there is nothing to remark.
 */
export function infoOf(
  own: HandlerOptions,
  wanted: HandlerOptions,
  { mode, what, limits = {} }: InfoOptions,
): readonly Info[] | undefined {
  const info: Info[] = [];
  const { inactivityTimeoutMs } = own;
  // RT0021: without a stream towards the endpoint there is no inactivity
  // (docs/spec/service-protocol.md#modes).
  if (mode === "requestResponse" && inactivityTimeoutMs !== undefined) {
    const timeout = printDuration(inactivityTimeoutMs);
    info.push({
      code: "RT0021",
      message: `The configured inactivity_timeout ${timeout} will not be applied because the ` +
        `${what} is exposed in Request/Response mode.`,
    });
  }
  clamped(info, "journal_retention", [wanted.journalRetentionMs, limits.journalRetentionMsMax]);
  clamped(info, "idempotency_retention", [
    wanted.idempotencyRetentionMs,
    limits.idempotencyRetentionMsMax,
  ]);
  clamped(info, "workflow_completion_retention", [
    wanted.workflowRetentionMs,
    limits.workflowRetentionMsMax,
  ]);
  return info.length > 0 ? info : undefined;
}

function clamped(
  info: Info[],
  field: string,
  [wanted = 0, max = Infinity]: readonly [number | undefined, number | undefined],
): void {
  if (wanted <= max) return;
  const message = `The configured ${field} is clamped to the maximum server limit.`;
  info.push({ code: "RT0022", message });
}
