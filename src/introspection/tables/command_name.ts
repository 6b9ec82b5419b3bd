import { entryType } from "../../model/journal.ts";
import { entryName } from "../journal/entry_name.ts";

const cases = Object.values(entryType).map((type) => `when ${type} then '${entryName(type)}'`);

/** The name of the command that the last failure of the invocation `t` is about, as SQL. */
export const FAILED_COMMAND = `case t.body ->> '$.lastFailure.related.type' ${cases.join(" ")} end`;
