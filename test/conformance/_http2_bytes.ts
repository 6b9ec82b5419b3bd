/**
 * What opens an HTTP/2 connection (RFC 9113, section 3.4). Each text is latin1: a character is a
 * byte.
 */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const SETTINGS = frame({ type: 4 });
export const SETTINGS_ACK = frame({ type: 4, flags: 1 });
export const PING = frame({ type: 6, payload: "12345678" });

const END_STREAM = 1;
const END_HEADERS = 4;

/** HEADERS of stream 1, ended: a GET, compressed by HPACK's static table and literals. */
export function get(path: string): string {
  return frame({ type: 1, flags: END_HEADERS | END_STREAM, stream: 1, payload: head(0x82, path) });
}

/** The same, but a POST of JSON whose body is still to come. */
export function post(path: string): string {
  return frame({ type: 1, flags: END_HEADERS, stream: 1, payload: head(0x83, path) + JSON_TYPE });
}

/** A part of the body of stream 1. */
export function data(payload: string, { isLast }: { readonly isLast: boolean }): string {
  return frame({ type: 0, flags: isLast ? END_STREAM : 0, stream: 1, payload });
}

/** `content-type`, by its place in the static table. */
const JSON_TYPE = "\x0f\x10\x10application/json";

/**
 * Method, `http`, path, and the authority "a" (RFC 7541, section 6). `path`: up to 126 characters.
 */
function head(method: number, path: string): string {
  return `${String.fromCharCode(method)}\x86\x04${
    String.fromCharCode(path.length)
  }${path}\x41\x01a`;
}

/** Length, type, flags and stream before the payload (RFC 9113, section 4.1). Up to 255 bytes. */
function frame({ type, flags = 0, stream = 0, payload = "" }: {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: string;
}): string {
  return String.fromCharCode(0, 0, payload.length, type, flags, 0, 0, 0, stream) + payload;
}
