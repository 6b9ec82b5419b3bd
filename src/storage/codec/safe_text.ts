/**
 * SQLite text must hold neither NUL (drivers cut the string there) nor lone surrogates (they have
 * no UTF-8, and the libSQL addon ends the process when it meets such text). Keys, names and ids
 * may hold both, so text is stored in a spelling that avoids them, and that sorts the same: by
 * code point. Almost all text is its own spelling.
 *
 * U+0000 → U+0001 U+0001, U+0001 → U+0001 U+0002, a lone surrogate s → U+E000 U+(s - 0xD700), and
 * U+E000 → U+E000 U+0900.
 */
// deno-lint-ignore no-control-regex -- these are the characters this file is about.
const UNSAFE = /[\0\x01\ue000]|\p{Surrogate}/u;
// deno-lint-ignore no-control-regex -- see above.
const EACH_UNSAFE = /[\0\x01\ue000]|\p{Surrogate}/gu;
// deno-lint-ignore no-control-regex -- see above.
const EACH_ESCAPED = /\x01[\x01\x02]|\ue000[\u0100-\u0900]/g;
const SURROGATES = 0xd800;
const SPELLED_SURROGATES = 0x100;

/** Any string as text that SQLite stores and orders exactly. */
export function toSafe(text: string): string {
  return UNSAFE.test(text) ? text.replace(EACH_UNSAFE, spell) : text;
}

/** The reverse of `toSafe`. */
export function fromSafe(text: string): string {
  return text.includes("\x01") || text.includes("\ue000")
    ? text.replace(EACH_ESCAPED, unspell)
    : text;
}

const PLAIN = /^[\w./-]*$/;

/** The same as `toJson`, and cheaper, for a string that mostly is an id. */
export function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : toJson(text);
}

/**
 * The same JSON as a flat string. V8 keeps a concatenated string as a tree of its pieces, which takes
 * more memory than the text and is walked at every copy. Reading a character flattens it, if the result
 * is used: no JSON begins with NUL.
 */
export function inOnePiece(json: string): string {
  return json.charCodeAt(0) === 0 ? "" : json;
}

/** JSON whose strings SQLite can extract safely. `value` must not contain bytes. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Only text with `\u` or U+E000 needs the slow path: JSON escapes all other unsafe characters.
  if (!text.includes("\\u") && !text.includes("\ue000")) return text;
  return JSON.stringify(value, (_, part) => typeof part === "string" ? toSafe(part) : part);
}

/** The reverse of `toJson`. Throws a `SyntaxError` when `text` is not JSON. */
export function fromJson(text: string): unknown {
  if (!text.includes("\\u0001") && !text.includes("\ue000")) return JSON.parse(text);
  return JSON.parse(text, (_, part) => typeof part === "string" ? fromSafe(part) : part);
}

function spell(character: string): string {
  if (character === "\0") return "\x01\x01";
  if (character === "\x01") return "\x01\x02";
  if (character === "\ue000") return "\ue000\u0900";
  return `\ue000${String.fromCharCode(character.charCodeAt(0) - SURROGATES + SPELLED_SURROGATES)}`;
}

function unspell(pair: string): string {
  if (pair === "\x01\x01") return "\0";
  if (pair === "\x01\x02") return "\x01";
  if (pair === "\ue000\u0900") return "\ue000";
  return String.fromCharCode(pair.charCodeAt(1) - SPELLED_SURROGATES + SURROGATES);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes text that a query returns as bytes (`cast(… as blob)`). Throws a `TypeError` for bytes that
 * are not UTF-8, such as after a flipped bit; the libSQL addon ends the process when it reads such text.
 */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
