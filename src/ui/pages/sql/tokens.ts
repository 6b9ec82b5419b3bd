export type TokenKind = "keyword" | "string" | "number" | "comment" | "name" | "other";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Words with a meaning of their own. Also offered while one types. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  ("SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET AS AND OR NOT IN IS NULL TRUE FALSE LIKE ILIKE " +
    "BETWEEN CASE WHEN THEN ELSE END JOIN LEFT INNER CROSS ON USING UNION ALL EXCEPT INTERSECT WITH " +
    "DISTINCT HAVING ASC DESC NULLS FIRST LAST INTERVAL TIMESTAMP CAST OVER PARTITION FILTER EXISTS " +
    "VALUES EXTRACT").split(" "),
);

const TOKEN =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$))|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|([a-z_][\w$]*)|(\s+|[^\s])/gi;

/** The parts of a statement, which joined are the statement. What is not closed reaches to the end. */
export function tokensOf(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map(([found, comment, string, quoted, number, word]) => ({
    kind: comment !== undefined
      ? "comment"
      : string !== undefined
      ? "string"
      : number !== undefined
      ? "number"
      : quoted !== undefined
      ? "name"
      : word !== undefined
      ? KEYWORDS.has(word.toUpperCase()) ? "keyword" : "name"
      : "other",
    text: found,
  }));
}
