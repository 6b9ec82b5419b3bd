import { concatBytes, copyBytes } from "./bytes.ts";
import type { Dial, DialFailure, DialHead, DialRequest } from "./dial.ts";
import type { Clock } from "./ports.ts";

export interface CollectOptions {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /**
   * The largest body. Of a longer one the first `bodyBytesMax` bytes are kept and the rest is not
   * read.
   */
  readonly bodyBytesMax: number;
  /** The body of the request. Absent: it has none. */
  readonly body?: Uint8Array;
}

/** One whole response, or why there is none. */
export type Collected =
  | {
    readonly kind: "answer";
    readonly head: DialHead;
    readonly body: Uint8Array;
    /** Whether the body was longer than `bodyBytesMax`. */
    readonly cut: boolean;
  }
  | { readonly kind: "failed"; readonly failure: DialFailure }
  | { readonly kind: "timeout" };

/** Sends a request at once and collects the response. Never rejects. */
export function collect(
  request: DialRequest,
  { dial, clock, timeoutMs, bodyBytesMax, body }: CollectOptions,
): Promise<Collected> {
  return new Promise((resolve) => {
    let head: DialHead | undefined;
    const chunks: Uint8Array[] = [];
    let size = 0;
    const finish = (collected: Collected) => {
      forget();
      resolve(collected);
    };
    const answer = (cut: boolean) => {
      if (head) finish({ kind: "answer", head, body: concatBytes(chunks), cut });
    };
    const exchange = dial.open(request, {
      head: (value) => head = value,
      chunk: (bytes) => {
        const kept = bytes.subarray(0, bodyBytesMax - size);
        chunks.push(copyBytes(kept));
        size += kept.byteLength;
        if (kept.byteLength === bytes.byteLength) return;
        exchange.abort();
        answer(true);
      },
      end: () => answer(false),
      failed: (failure) => finish({ kind: "failed", failure }),
      drain: () => {},
    });
    const forget = clock.at(clock.now() + timeoutMs, () => {
      exchange.abort();
      resolve({ kind: "timeout" });
    });
    if (body) exchange.write(body);
    exchange.end();
  });
}
