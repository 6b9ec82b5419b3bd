import { parseFilter, type Term } from "../data/filter.ts";
import { useQuery } from "../data/hooks.ts";
import type { Sql } from "../data/sql.ts";

/** Terms that are tried: each is a statement. */
const TERMS_MAX = 6;

export interface DropsProps {
  /** The filter line. */
  readonly text: string;
  /** Names of its fields. */
  readonly names: readonly string[];
  /** A statement that has rows if a filter line finds something. */
  readonly foundBy: (text: string) => Sql;
  readonly onFilter: (text: string) => void;
}

/** Which term of a filter leaves nothing, and a button for each that takes it out. */
export function Drops({ text, names, foundBy, onFilter }: DropsProps) {
  const terms = parseFilter(text, names);
  return (
    <p class="row centered">
      {terms.length > 1 && terms.slice(0, TERMS_MAX).map((term) => (
        <Drop
          key={term.source}
          term={term}
          rest={terms.filter((one) => one !== term).map(({ source }) => source).join(" ")}
          {...{ foundBy, onFilter }}
        />
      ))}
      <button type="button" onClick={() => onFilter("")}>Remove the filter</button>
    </p>
  );
}

/** A button, once it is known that the other terms find something. */
function Drop({ term: { source }, rest, foundBy, onFilter }:
  & Pick<DropsProps, "foundBy" | "onFilter">
  & { readonly term: Term; readonly rest: string }) {
  const { data } = useQuery(foundBy(rest));
  if (!data || data.length === 0) return null;
  return (
    <button type="button" class="primary" onClick={() => onFilter(rest)}>
      Without <bdi>{source}</bdi>
    </button>
  );
}
