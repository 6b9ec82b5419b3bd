import { concatBytes } from "../bytes.ts";
import { isAscii, toRaw } from "./percent.ts";

/**
 * How ingress reads a request. A platform may provide its own reader where Fetch is slow or reports
 * less than the platform knows: on Node a `Request` costs more to build than all of ingress,
 * `Headers` joins repeated headers, and `URL` resolves `..`, which is a legal object key.
 */
export interface RequestReader {
  /**
   * Path and query exactly as on the request line, percent-encoding untouched, bytes that are not
   * ASCII as one character each. An absolute form (`http://host/path`) is fine.
   */
  target(request: Request): string;
  /** Names and values in turn, in the order received, repeated ones repeated. Any case. */
  headers(request: Request): readonly string[];
  /** Resolves with the whole body, or with undefined as soon as it is longer than `bytesMax`. */
  body(request: Request, options: BodyOptions): BodyBytes | Promise<BodyBytes>;
  /**
   * Has `leave` called when the caller disconnects, where the platform can know; possibly after the
   * answer, too.
   */
  onLeave(request: Request, leave: () => void): void;
  /** The IP address that the connection comes from. Absent, and undefined: it is not known. */
  readonly address?: (request: Request) => string | undefined;
}

export interface BodyOptions {
  /** The declared length, which is neither 0 nor above the limit. Undefined: not declared. */
  readonly length: number | undefined;
  readonly bytesMax: number;
}

export type BodyBytes = Uint8Array | undefined;

/** Reads any `Request` by the Fetch standard alone. What it cannot know is in the README. */
export const fetchReader: RequestReader = {
  target: (request) => {
    const url = request.url;
    const start = url.indexOf("/", url.indexOf("://") + 3);
    const target = start < 0 ? "/" : url.slice(start);
    // Deno hands on a path that holds bare UTF-8 as the characters it means.
    return isAscii(target) ? target : toRaw(target);
  },

  headers: (request) => {
    const flat: string[] = [];
    for (const [name, value] of request.headers) flat.push(name, value);
    return flat;
  },

  body: (request, { length, bytesMax }) =>
    length === undefined ? readCounting(request, bytesMax) : readDeclared(request, bytesMax),

  onLeave: (request, leave) => request.signal.addEventListener("abort", leave, { once: true }),
};

/** HTTP ends a body at its declared length, so it can be taken in one piece. */
async function readDeclared(request: Request, bytesMax: number): Promise<BodyBytes> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  return bytes.length > bytesMax ? undefined : bytes;
}

async function readCounting(request: Request, bytesMax: number): Promise<BodyBytes> {
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > bytesMax) {
      // Not awaited: a caller that continues to send must not delay its own refusal.
      reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(read.value);
  }
  const [first] = chunks;
  return first && chunks.length === 1 ? first : concatBytes(chunks);
}
