import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Log } from "../../src/ports.ts";

/** After so long all resets that may come at once may come again, in milliseconds. */
const FORGIVEN_MS = 20_000;

interface Count {
  /** Resets that are not forgiven yet. */
  resets: number;
  at: number;
}

/**
 * Closes connections of HTTP/2 whose streams end in a reset too often: a stream costs its server much
 * more than its client, and a reset one does not count for the limit of streams at once. Resets of this
 * server count as well, because a client can provoke them by what it sends. `limit`: so many at once, and
 * a twentieth of it each second.
 */
export class StreamResets {
  readonly #limit: number;
  readonly #log: Log;

  constructor(limit: number, log: Log) {
    this.#limit = limit;
    this.#log = log;
  }

  /** Counts the streams of a session that end in a reset. */
  watch(session: ServerHttp2Session): void {
    if (this.#limit === Infinity) return;
    const count: Count = { resets: 0, at: performance.now() };
    const closed = (stream: ServerHttp2Stream) => {
      // A client may reset without an error, before its answer has ended.
      const isReset = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
      if (isReset && !session.destroyed) this.#add(session, count);
    };
    function onClose(this: ServerHttp2Stream): void {
      closed(this);
    }
    // Not of the server: a stream that was reset in the same read has no session any more there.
    session.on("stream", (stream) => void stream.once("close", onClose));
  }

  #add(session: ServerHttp2Session, count: Count): void {
    const now = performance.now();
    const forgiven = (now - count.at) * this.#limit / FORGIVEN_MS;
    count.resets = Math.max(0, count.resets - forgiven) + 1;
    count.at = now;
    if (count.resets <= this.#limit) return;
    this.#log("warn", "A connection is closed: its client resets too many streams", {
      limit: this.#limit,
    });
    session.destroy(constants.NGHTTP2_ENHANCE_YOUR_CALM as never);
  }
}

const OPTION_MAX = 2 ** 31 - 1;

/**
 * Options by which Node itself ends a session: for frames that it cannot use, and, without a word, for
 * resets, as a second limit behind `StreamResets`. Node 20 does not know the last two: it stops at 1,000
 * resets at once and 33 a second.
 */
export function resetOptions(limit: number): object {
  const burst = Math.min(2 * limit, OPTION_MAX);
  return {
    maxSessionInvalidFrames: Math.min(limit, OPTION_MAX),
    streamResetBurst: burst,
    streamResetRate: Math.ceil(burst * 1000 / FORGIVEN_MS),
  };
}
