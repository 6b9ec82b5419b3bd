/** An integer of SQL. Text where a `number` cannot hold it: beyond 2^53 digits would be lost. */
export type Int = number | string;

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Integers of fewer digits are exact. */
const LARGE = /\d{16}/;

/**
 * Parses JSON and keeps every digit: an integer that a `number` cannot hold becomes its text. Throws
 * `SyntaxError` for what is not JSON.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(LARGE.test(text) ? quoteLarge(text) : text);
}

/** Puts quotes around integers that are not safe. */
function quoteLarge(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      NUMBER.lastIndex = at;
      const [number = text[at] ?? ""] = NUMBER.exec(text) ?? [];
      if (/^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))) {
        parts.push(text.slice(copied, at), `"${number}"`);
        copied = at + number.length;
      }
      at += number.length;
    } else at++;
  }
  return parts.join("") + text.slice(copied);
}

const [QUOTE, MINUS, ZERO, NINE, BACKSLASH] = [34, 45, 48, 57, 92];

/** The position behind the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}
