import { concatBytes } from "../../bytes.ts";
import { BadLine } from "./dump.ts";

/** Bytes of a line. A row has about 32 MiB at most, a third more in base64. */
const LINE_BYTES_MAX = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The lines of a stream of UTF-8, each of which ends with a newline. Throws `BadLine` for a line that is
 * not UTF-8, is longer than `LINE_BYTES_MAX`, or has no newline.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let open: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield decode(decoder, concatBytes([...open, chunk.subarray(from, at)]));
      open = [];
      size = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    // A copy, because the sender of the chunk may reuse its buffer.
    open.push(chunk.slice(from));
    size += chunk.length - from;
    if (size > LINE_BYTES_MAX) throw new BadLine("it is too long");
  }
  if (size > 0) throw new BadLine("it is cut off");
}

function decode(decoder: TextDecoder, line: Uint8Array): string {
  try {
    return decoder.decode(line);
  } catch (cause) {
    throw new BadLine("it is no UTF-8", { cause });
  }
}
