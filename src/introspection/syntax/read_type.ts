import type { Cursor } from "./cursor.ts";

/** Types of more than one word, and what their second one is. */
const SECOND_WORDS: ReadonlyMap<string, string> = new Map([
  ["double", "precision"],
  ["character", "varying"],
  ["char", "varying"],
]);

/**
 * The name of a type, in lower case unless it was quoted, without sizes: `character varying`. Throws
 * a `Failure` 400 for lists and types with a path.
 */
export function readType(cursor: Cursor): string {
  let name = cursor.expectName();
  const second = SECOND_WORDS.get(name);
  if (second && cursor.takeWords(second)) name = `${name} ${second}`;
  if (cursor.isSymbol("(")) cursor.parens(() => cursor.list(readSize));
  if (name === "timestamp" || name === "time") readZone(cursor);
  if (cursor.isSymbol("[")) throw cursor.unsupported("the type of a list");
  if (cursor.isSymbol(".")) throw cursor.unsupported("a type with a path");
  return name;
}

function readSize(cursor: Cursor): void {
  if (cursor.peek().kind !== "number") throw cursor.unexpected();
  cursor.next();
}

/** All times are of the same zone here. */
function readZone(cursor: Cursor): void {
  if (!cursor.takeWords("with", "time", "zone")) cursor.takeWords("without", "time", "zone");
}
