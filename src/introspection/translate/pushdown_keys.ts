import { BadId, parseInvocationId } from "../../model/id.ts";
import { toSafe } from "../../storage/codec/safe_text.ts";
import { cut, refused } from "../refusal.ts";
import type { KeyFact, StoredRelation } from "./scope.ts";

/**
 * Only rows for which these facts hold are wanted, so an index may be asked for them. `of`: the
 * mentions of tables that this is true of: those of the query itself, and not of one around it. Throws a `Failure` 400 for an id that is none
 * (docs/spec/queries.md#statements).
 */
export function pushKeys(facts: readonly KeyFact[], of: ReadonlySet<StoredRelation>): void {
  for (const { column: { relation, name }, values } of facts) {
    if (!of.has(relation)) continue;
    if (relation.table.ids === name) values.forEach(checkId);
    const before = relation.pushed.get(name);
    const safe = values.map(toSafe);
    relation.pushed.set(name, before ? safe.filter((one) => before.includes(one)) : safe);
  }
}

function checkId(id: string): void {
  try {
    parseInvocationId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw refused(`Cannot run the query: '${cut(id)}' is no invocation id: ${cause.message}`, {
      cause,
    });
  }
}
