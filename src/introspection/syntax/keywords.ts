/** Words that are never a name by themselves: neither of a column nor, without AS, of an alias. */
export const RESERVED: ReadonlySet<string> = new Set(
  `select distinct from where group having window order limit offset fetch for into with table
  qualify returning union except intersect as on using join inner left right full cross natural
  outer lateral tablesample and or not in is isnull notnull like ilike similar between collate case
  when then else end asc desc null true false exists cast`.split(/\s+/),
);

/** What a query begins with, unless it is a parenthesis. */
export const QUERY_WORDS: ReadonlySet<string> = new Set(["select", "with", "values", "table"]);

/** Words between two queries. */
export const SET_WORDS: ReadonlySet<string> = new Set(["union", "except", "intersect"]);

/** What may stand behind the body of a query. */
export const TAIL_WORDS: ReadonlySet<string> = new Set([
  ...SET_WORDS,
  "order",
  "limit",
  "offset",
  "fetch",
  "for",
]);

/** What statements begin with that ask nothing, or nothing of ours. */
export const OTHER_STATEMENTS: ReadonlySet<string> = new Set(
  `insert update delete merge replace drop create alter truncate rename attach detach pragma vacuum
  analyze reindex cluster checkpoint begin start commit end rollback abort savepoint release set
  reset copy load unload export import grant revoke call do prepare execute deallocate declare fetch
  move close discard listen unlisten notify comment refresh use lock kill`.split(/\s+/),
);
