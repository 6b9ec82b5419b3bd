import type { InvocationRow } from "../../src/model/invocation.ts";

/** The row of an invocation of a service in its first attempt, but for what `more` says. */
export function invocationRow(more: Partial<InvocationRow> = {}): InvocationRow {
  return {
    id: "inv_1",
    target: { service: "s", handler: "h", type: "service", access: "none" },
    status: { kind: "invoked" },
    origin: { by: "ingress" },
    attempt: 1,
    heard: 0,
    journal: 1,
    commands: 1,
    failures: 0,
    failuresSinceCommand: 0,
    callers: [],
    retention: { resultMs: 0, journalMs: 0 },
    createdAt: 1,
    modifiedAt: 1,
    ...more,
  };
}
