const PERCENT = 0x25;
const ASCII_MAX = 0x7f;
const BYTE = 0xff;
// deno-lint-ignore no-control-regex -- the point is to name every character that is one byte
const PLAIN = /^[\x00-\x24\x26-\x7f]*$/;

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A key or scope as it stands in a raw path (see `RequestReader.target`): percent-encoded UTF-8.
 * `+` is no space and an escape that is none (`%zz`) stands for itself (docs/spec/ingress.md#keys).
 * Undefined when the bytes are not UTF-8.
 */
export function decodeSegment(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  try {
    return strict.decode(toBytes(text, true));
  } catch {
    return undefined; // the only thing `fatal` throws for
  }
}

/** Text that came as one character per byte (see `RequestReader.target`), read as UTF-8. */
export function decodeRaw(text: string): string {
  return lenient.decode(toBytes(text, false));
}

/** The reverse: text as the UTF-8 it is written in, one character per byte. */
export function toRaw(text: string): string {
  let raw = "";
  for (const byte of encoder.encode(text)) raw += String.fromCharCode(byte);
  return raw;
}

function toBytes(text: string, unescape: boolean): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const escaped = unescape && code === PERCENT ? hexPair(text, at + 1) : -1;
    if (escaped >= 0) at += 2;
    bytes.push(escaped >= 0 ? escaped : code & BYTE);
  }
  return Uint8Array.from(bytes);
}

function hexPair(text: string, at: number): number {
  const pair = text.slice(at, at + 2);
  return /^[0-9a-f]{2}$/i.test(pair) ? parseInt(pair, 16) : -1;
}

/** Whether every character is ASCII. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > ASCII_MAX) return false;
  }
  return true;
}
