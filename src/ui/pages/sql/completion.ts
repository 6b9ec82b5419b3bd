import { KEYWORDS, tokensOf } from "./tokens.ts";

/** Tables with their columns. */
export type Tables = ReadonlyMap<string, readonly Column[]>;

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Suggestion {
  readonly text: string;
  /** What it is: a table, a keyword, or the type of a column. */
  readonly about: string;
}

export interface Completion {
  /** Where the word begins that is completed. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
}

const SUGGESTIONS_MAX = 8;
const FUNCTIONS = ["count", "sum", "min", "max", "avg", "coalesce", "lower", "now", "date_bin"];
const NONE: Completion = { from: 0, suggestions: [] };

/**
 * What may follow at a place of a statement: tables behind FROM and JOIN, else columns of the tables
 * that the statement names, functions and keywords. Nothing within texts and comments.
 */
export function complete(text: string, at: number, tables: Tables): Completion {
  const before = text.slice(0, at);
  const last = tokensOf(before).at(-1);
  if (last?.kind !== "name" && last?.kind !== "keyword" && !before.endsWith(".")) return NONE;
  const [, owner, word = ""] = /(?:([a-z_]\w*)\.)?([a-z_]\w*)?$/i.exec(before) ?? [];
  const from = at - word.length;
  const head = before.slice(0, from);
  const all = owner !== undefined
    ? columnsOf(text, tables, owner)
    : /\b(?:from|join)\s+$/i.test(head)
    ? tablesOf(tables)
    : [...columnsOf(text, tables), ...functions(), ...tablesOf(tables), ...keywords()];
  const lower = word.toLowerCase();
  const found = all.filter((one) => one.text.toLowerCase().startsWith(lower) && one.text !== word);
  const unique = [...new Map(found.map((one) => [one.text, one])).values()];
  return { from, suggestions: unique.slice(0, SUGGESTIONS_MAX) };
}

function tablesOf(tables: Tables): Suggestion[] {
  return [...tables.keys()].map((text) => ({ text, about: "table" }));
}

function functions(): Suggestion[] {
  return FUNCTIONS.map((name) => ({ text: `${name}(`, about: "function" }));
}

function keywords(): Suggestion[] {
  return [...KEYWORDS].map((text) => ({ text, about: "keyword" }));
}

const NAMED = /\b(?:from|join)\s+([a-z_]\w*)(?:\s+(?:as\s+)?([a-z_]\w*))?/gi;

/** Columns of the tables that a statement names. `owner`: of that table or alias only. */
function columnsOf(text: string, tables: Tables, owner?: string): Suggestion[] {
  const named = [...text.matchAll(NAMED)].map(([, table = "", alias]) => ({ table, alias }));
  const wanted = owner === undefined
    ? named
    : named.filter(({ table, alias }) => table === owner || alias === owner);
  return wanted.flatMap(({ table }) =>
    (tables.get(table) ?? []).map(({ name, type }) => ({ text: name, about: type }))
  );
}
