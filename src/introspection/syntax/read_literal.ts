import type { Expr } from "./ast.ts";
import type { Cursor } from "./cursor.ts";

/** Units that may follow the text of an interval; each of them may have an `s`. */
const UNITS: ReadonlySet<string> = new Set(
  `millennium century decade year quarter month week day hour minute second millisecond microsecond
  nanosecond`.split(/\s+/).flatMap((unit) => [unit, `${unit}s`]),
);

/** What is said without parentheses and still is a function. */
const BARE: ReadonlySet<string> = new Set([
  "current_timestamp",
  "current_date",
  "current_time",
  "localtimestamp",
  "localtime",
]);

/**
 * A text with the name of its type before it, or a constant with a name. Undefined when it is neither.
 * Throws a `Failure` 400 for types that we do not know.
 */
export function readNamedLiteral(cursor: Cursor): Expr | undefined {
  const { text: word } = cursor.peek();
  if (BARE.has(word) && !cursor.isSymbol("(", 1)) {
    cursor.next();
    return { kind: "call", name: word, args: [], star: false, distinct: false, orderBy: [] };
  }
  const { kind, text } = cursor.peek(1);
  if (word === "interval" && (kind === "number" || kind === "symbol" && text === "-")) {
    throw cursor.unsupported("INTERVAL of anything but a text");
  }
  if (kind !== "text") return undefined;
  switch (word) {
    case "timestamp":
      cursor.next();
      return { kind: "timestamp", text: cursor.next().text };
    case "interval":
      cursor.next();
      return readInterval(cursor);
    default:
      throw cursor.unsupported(`the literal ${word.toUpperCase()}`);
  }
}

function readInterval(cursor: Cursor): Expr {
  const { text } = cursor.next();
  if (!cursor.isWord(UNITS)) return { kind: "interval", text };
  const unit = cursor.next().text;
  if (cursor.isWord("to")) throw cursor.unsupported("a range of INTERVAL");
  return { kind: "interval", text: `${text} ${unit}` };
}
