import { parseFilter, type Term } from "../../data/filter.ts";
import { useQuery } from "../../data/hooks.ts";
import { sql, where } from "../../data/sql.ts";
import { compileFilter, FIELD_NAMES } from "./fields.ts";

/** Terms that are tried: each is a statement. */
const TERMS_MAX = 6;

/** Which term of a filter leaves nothing, and a button for each that takes it out. */
export function Drops({ text, onFilter }: {
  readonly text: string;
  readonly onFilter: (text: string) => void;
}) {
  const terms = parseFilter(text, FIELD_NAMES);
  return (
    <p class="row centered">
      {terms.length > 1 && terms.slice(0, TERMS_MAX).map((term) => (
        <Drop
          key={term.source}
          term={term}
          rest={terms.filter((one) => one !== term).map(({ source }) => source).join(" ")}
          onFilter={onFilter}
        />
      ))}
      <button type="button" onClick={() => onFilter("")}>Remove the filter</button>
    </p>
  );
}

const MINUTE_MS = 60_000;

/** A button, once it is known that the other terms find something. */
function Drop({ term: { source }, rest, onFilter }: {
  readonly term: Term;
  readonly rest: string;
  readonly onFilter: (text: string) => void;
}) {
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const { conditions } = compileFilter(rest, now);
  const { data } = useQuery<{ id: string }>(
    sql`SELECT id FROM sys_invocation ${where(conditions)} LIMIT 1`,
  );
  if (!data || data.length === 0) return null;
  return (
    <button type="button" class="primary" onClick={() => onFilter(rest)}>
      Without <bdi>{source}</bdi>
    </button>
  );
}
