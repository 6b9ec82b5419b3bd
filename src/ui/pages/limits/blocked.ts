import type { BlockedRow } from "./statements.ts";

/** What the first one of a queue waits for, in words. */
export function blockedText(row: BlockedRow | undefined): string {
  if (!row) return "";
  if (row.status === "scheduled") return "its time";
  if (row.blocked_on === undefined) return row.status;
  const facts = factsOf(row.blocked_on_json);
  const name = (field: string) => typeof facts[field] === "string" ? ` ${facts[field]}` : "";
  switch (row.blocked_on) {
    case "lock":
      return `the lock of${name("lock_name")}`;
    case "paused":
      return `the end of the pause of${name("paused")}${name("name")}`;
    case "service-concurrency":
      return `room in the service${name("service")}`;
    case "handler-concurrency":
      return `room in the handler${name("handler")}`;
    case "service-rate":
      return `a start that the rate of the service${name("service")} allows`;
    case "handler-rate":
      return `a start that the rate of the handler${name("handler")} allows`;
    case "throttling_rules":
      return `a start that a rate allows${name("blocked_rule")}`;
    case "limit-key-concurrency":
      return `room in the limit${name("blocked_rule")}`;
    case "invoker-concurrency":
      return "a slot of the invoker";
    default:
      return row.blocked_on;
  }
}

function factsOf(json: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(json ?? "{}") as Record<string, unknown>;
  } catch {
    return {};
  }
}
