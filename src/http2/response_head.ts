import type { DialHead } from "../dial.ts";
import type { Field } from "./hpack/static_table.ts";

/** The head of a response, or of an informational one (1xx) before it. */
export interface ResponseHead extends DialHead {
  /** Bytes of the body, where the head says so. */
  readonly contentLength: number | undefined;
}

/** Lower-case tokens: HTTP/2 allows no other names (RFC 9113, section 8.2.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** No end of a line, no NUL, and no space around it. */
const NO_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;
const STATUS = /^[1-9][0-9][0-9]$/;
const LENGTH = /^[0-9]{1,15}$/;
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The head that a header block of a response is. A string: what is wrong with it (RFC 9113, sections
 * 8.2 and 8.3.2), as the end of a sentence.
 */
export function responseHead(fields: readonly Field[]): ResponseHead | string {
  const [first] = fields;
  if (first?.name !== ":status") return "a response without status at its beginning";
  if (!STATUS.test(first.value)) return "a status that is no number of three digits";
  if (first.value === "101") return "status 101, which HTTP/2 does not have";
  const wrong = wrongIn(fields, 1);
  if (wrong !== undefined) return wrong;
  const headers = new Map<string, string>();
  for (const { name, value } of fields) {
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  const length = headers.get("content-length");
  if (length !== undefined && !LENGTH.test(length)) return "a content-length that is no number";
  return {
    status: Number(first.value),
    httpVersion: "HTTP/2.0",
    contentLength: length === undefined ? undefined : Number(length),
    header: (name) => headers.get(name),
  };
}

/** What is wrong with the headers behind the body of a response. Undefined: nothing. */
export function wrongInTrailers(fields: readonly Field[]): string | undefined {
  return wrongIn(fields, 0);
}

/** What is wrong with the headers from `from` on, none of which may be a pseudo-header. */
function wrongIn(fields: readonly Field[], from: number): string | undefined {
  for (let i = from; i < fields.length; i++) {
    const { name, value } = fields[i]!;
    if (name.startsWith(":")) return `the pseudo-header ${show(name)} in a wrong place`;
    if (!NAME.test(name)) return `a header named ${show(name)}`;
    if (OF_THE_CONNECTION.has(name)) return `the header ${show(name)}, which HTTP/2 does not have`;
    if (NO_VALUE.test(value)) return `a header ${show(name)} whose value is not allowed`;
  }
  return undefined;
}

/** Characters of a header's name that a message shows. */
const SHOWN_MAX = 60;

function show(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN_MAX));
}
