import { toBase64 } from "../model/base64.ts";
import { pointed, type RecordView } from "./filter.ts";

/** The key of the object or workflow, or why there is none. */
export type ObjectKey = { readonly objectKey: string } | { readonly problem: string };

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * How a `key.encoding` makes the key of an object. Undefined: the server reads the record's key as
 * UTF-8, which is the default. `base64` is URL-safe and padded, as in the header `kafka.key`. Without a
 * key of the record, `base64` and `hex` make the empty one.
 */
export function keyReader(
  encoding: string | undefined,
): ((view: RecordView) => ObjectKey) | undefined {
  if (encoding === undefined || encoding === "utf8") return undefined;
  if (encoding === "hex") return ({ key }) => ({ objectKey: hexOf(key) });
  if (encoding === "base64") return ({ key }) => ({ objectKey: padded(toBase64(key ?? NONE)) });
  const [kind] = encoding.split(":", 1);
  const name = encoding.slice(encoding.indexOf(":") + 1);
  return kind === "header" ? (view) => ofHeader(view, name) : (view) => ofJson(view, name);
}

const NONE = new Uint8Array();

function hexOf(key: Uint8Array = NONE): string {
  return Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}

/** The last header of that name counts, as for other consumers of Kafka. */
function ofHeader({ headers }: RecordView, name: string): ObjectKey {
  const found = headers.findLast((one) => one[0] === name);
  if (found === undefined) {
    return { problem: `The Kafka record has no header "${name}" to be its key` };
  }
  try {
    return { objectKey: decoder.decode(found[1]) };
  } catch {
    return {
      problem: `The header "${name}" of the Kafka record must be valid UTF-8 to be its key`,
    };
  }
}

function ofJson(view: RecordView, pointer: string): ObjectKey {
  const json = view.json();
  if (json === undefined) {
    return { problem: "The value of the Kafka record is no JSON, so it has no key" };
  }
  const found = pointed(json, pointer);
  if (typeof found === "string") return { objectKey: found };
  if (typeof found === "number" || typeof found === "boolean") return { objectKey: `${found}` };
  return {
    problem:
      `The value of the Kafka record has no text, number or boolean at "${pointer}" to be its key`,
  };
}
