import { entryType } from "../../model/journal.ts";
import { entryName } from "../journal/entry_name.ts";

const CASES = Object.values(entryType).map((type) => `when ${type} then '${entryName(type)}'`)
  .join(" ");

/** The name of the command that the failure at this path of the JSON `t.body` is about, as SQL. */
export function failedCommand(failure: string): string {
  return `case t.body ->> '$.${failure}.related.type' ${CASES} end`;
}

/** The name of the command that the last failure of the invocation `t` is about, as SQL. */
export const FAILED_COMMAND = failedCommand("lastFailure");
