import type { ServerHttp2Session } from "node:http2";

/** How long nothing may pass on a session before its peer is asked whether it is there. */
export const SILENCE_MS = 40_000;
/** How many times longer than that an answer may take. */
const PATIENCE = 0.5;

/**
 * Ends a session whose peer does not answer a PING. A peer that disappeared says nothing at all. And
 * when a peer resets too many streams, node gives the session up by itself: it reads and writes
 * nothing any more, emits no event, and keeps the connection for good, also when the peer has closed
 * it. `silenceMs`: after how long the peer is asked.
 */
export function endSilent(session: ServerHttp2Session, silenceMs: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  session.setTimeout(silenceMs, () => {
    if (timer || session.destroyed) return;
    timer = setTimeout(() => session.destroy(), silenceMs * PATIENCE);
    session.ping(() => {
      clearTimeout(timer);
      timer = undefined;
    });
  });
  session.once("close", () => clearTimeout(timer));
}
