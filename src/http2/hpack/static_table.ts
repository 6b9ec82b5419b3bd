/** A header: its name in lower case and its value. Each character stands for one byte. */
export interface Field {
  readonly name: string;
  readonly value: string;
}

const LINES = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`;

/** The headers that are known to both sides (RFC 7541, appendix A). The first one has index 1. */
export const STATIC_TABLE: readonly Field[] = LINES.split("\n").map((line) => {
  const [name = "", ...value] = line.split(" ");
  return { name, value: value.join(" ") };
});

const indexes = new Map<string, number>();
STATIC_TABLE.forEach(({ name, value }, at) => {
  if (!indexes.has(name)) indexes.set(name, at + 1);
  indexes.set(`${name} ${value}`, at + 1);
});

/** The index of a name, or 0. */
export function staticName(name: string): number {
  return indexes.get(name) ?? 0;
}

/** The index of a whole header, or 0. */
export function staticField(name: string, value: string): number {
  return indexes.get(`${name} ${value}`) ?? 0;
}
