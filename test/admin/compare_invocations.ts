import type { CompareRequest } from "./compare_request.ts";

const NOBODY = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";
const NOWHERE = "dp_16lq9KEFemrppKnYdVPzpTj";

function send(path: string, learns: string, more: Partial<CompareRequest> = {}): CompareRequest {
  return { port: "ingress", method: "POST", path: `/send/${path}`, learns, ...more };
}

function shows(id: string, status: string): CompareRequest {
  return {
    method: "POST",
    path: "/query",
    headers: { accept: "application/json" },
    body: { query: `select status from sys_invocation where id = '${id}'` },
    until: `"${status}"`,
  };
}

function operate(id: string, operations: readonly string[]): CompareRequest[] {
  return operations.map((one) => ({ method: "PATCH", path: `/invocations/${id}/${one}` }));
}

const REFUSED = ["purge", "purge-journal", "restart-as-new", "resume?deployment=foo"] as const;
const RESUMES = ["resume?deployment=latest", `resume?deployment=${NOWHERE}`, "resume"] as const;

/**
 * Every operation on invocations in every status (docs/spec/admin.md#operations-on-invocations).
 */
export const INVOCATIONS: readonly CompareRequest[] = [
  ...operate(NOBODY, ["cancel", "kill", "pause", "nope", ...REFUSED, ...RESUMES]),
  ...operate("foo", ["cancel", "kill", "pause", ...REFUSED, "resume"]),
  { method: "POST", path: `/invocations/${NOBODY}/kill` },
  ...["", "?mode=kill", "?mode=Purge", "?mode=nope"].map((query) => ({
    method: "DELETE",
    path: `/invocations/${NOBODY}${query}`,
  })),
  { method: "DELETE", path: "/invocations/foo" },

  send("Greeter/greet?delay=100s", "scheduled", { body: "later" }),
  ...operate("$scheduled", [...REFUSED, ...RESUMES, "pause", "cancel", "cancel"]),
  send("Greeter/greet?delay=101s", "again", { body: "later" }),
  ...operate("$again", ["kill", "kill"]),

  send("Counter/h/hold", "held"),
  shows("$held", "suspended"),
  send("Counter/h/add", "inboxed", { body: 1 }),
  shows("$inboxed", "pending"),
  ...operate("$inboxed", [...REFUSED, ...RESUMES, "pause", "cancel", "cancel"]),
  send("Counter/h/add", "other", { body: 1 }),
  ...operate("$other", ["kill"]),

  ...operate("$held", [...REFUSED, `resume?deployment=${NOWHERE}`]),
  ...operate("$held", ["cancel"]),
  shows("$held", "completed"),
  ...operate("$held", ["cancel", "kill", "pause", ...RESUMES]),
  ...operate("$held", ["restart-as-new?from=-1", "restart-as-new?from=x", "restart-as-new?from=7"]),
  ...operate("$held", ["restart-as-new?deployment=foo", `restart-as-new?deployment=${NOWHERE}`]),
  ...operate("$held", ["restart-as-new?from=0&deployment=keep", "purge-journal", "purge-journal"]),
  ...operate("$held", ["restart-as-new", "purge", "purge"]),

  send("Greeter/flaky", "failing", { body: "broken" }),
  shows("$failing", "backing-off"),
  ...operate("$failing", [...REFUSED, ...RESUMES.slice(0, 2), "pause"]),
  shows("$failing", "paused"),
  ...operate("$failing", [...REFUSED, `resume?deployment=${NOWHERE}`, "pause", "kill", "kill"]),

  send("Flow/w/run", "flow", { body: "me" }),
  shows("$flow", "suspended"),
  ...operate("$flow", ["restart-as-new", "purge", "kill"]),
  shows("$flow", "completed"),
  ...operate("$flow", ["restart-as-new", "purge-journal", "purge", "purge"]),
];
