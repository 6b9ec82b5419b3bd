import { linkWith } from "../state/router.ts";
import { termText } from "./filter.ts";

/** A link to the invocations that a filter finds: by fields and their values. Empty ones are left out. */
export function filterLink(terms: Readonly<Record<string, string | readonly string[]>>): string {
  const line = Object.entries(terms)
    .map(([field, values]) => [field, [values].flat().filter((one) => one !== "")] as const)
    .filter(([, values]) => values.length > 0)
    .map(([field, values]) => termText(field, values));
  return linkWith("invocations", line.length === 0 ? {} : { filter: line.join(" ") });
}

/** The word of the filter for a status of SQL. */
export function statusTerm(status: string): string {
  return status === "backing-off" ? "retrying" : status;
}
