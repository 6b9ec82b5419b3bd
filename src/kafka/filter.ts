/** What filters and key encodings look at. */
export interface RecordView {
  readonly key: Uint8Array | undefined;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  /** The value as JSON. Undefined: it is none. */
  json(): unknown;
}

/**
 * Whether a record passes a `filter`: `header:NAME=VALUE` compares the text of any header of that
 * name, `json:/POINTER=VALUE` a part of the value: a string, or the JSON of anything else.
 * Undefined: all pass. A value that is no JSON does not.
 */
export function filterOf(filter: string | undefined): (view: RecordView) => boolean {
  if (filter === undefined) return () => true;
  const at = filter.indexOf("=");
  const [source, wanted] = [filter.slice(0, at), filter.slice(at + 1)];
  if (source.startsWith("header:")) {
    const name = source.slice("header:".length);
    const bytes = new TextEncoder().encode(wanted);
    return ({ headers }) => headers.some((one) => one[0] === name && isEqual(one[1], bytes));
  }
  const pointer = source.slice("json:".length);
  return (view) => {
    const found = pointed(view.json(), pointer);
    return found !== undefined && (typeof found === "string" ? found : jsonOf(found)) === wanted;
  };
}

/** Undefined: it is nested too deeply. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What a JSON pointer (RFC 6901) names. Undefined: nothing. */
export function pointed(json: unknown, pointer: string): unknown {
  let found = json;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) {
      return undefined;
    }
    if (Array.isArray(found) && !/^\d+$/.test(name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
