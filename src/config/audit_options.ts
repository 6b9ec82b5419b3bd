import { count, duration, flag } from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of the records of what clients do through the admin API (docs/security.md#audit). */
export const auditOptions = {
  "audit.retention": option(duration(), "90d", {
    doc:
      "How long records of changes through the admin API are kept in `sys_audit`. `0s`: they are " +
      "in the log only.",
  }),
  "audit.rows": option(count(1), "100000", {
    doc: "How many records are kept. Beyond it the oldest are dropped.",
  }),
  "audit.refused-limit": option(count(1), "10", {
    doc:
      "Refused changes that are recorded in a second. Beyond it they are counted, and the next " +
      "record has their number.",
  }),
  "audit.queries": option(flag(), "false", {
    doc: "Whether queries in SQL are recorded: who asked and when, without their text.",
  }),
} as const;
