import type { ServerHttp2Session } from "node:http2";

/** How long a session may be inactive before its peer is sent a PING, in milliseconds. */
export const INACTIVITY_MS = 40_000;
/** How long the answer to a PING may take, as a multiple of the inactivity before it. */
const PING_TIMEOUT_FACTOR = 0.5;

/**
 * Destroys a session whose peer does not answer a PING: one that disappeared sends neither data nor a
 * FIN. It also ends sessions that Node has given up because the peer reset too many streams: Node then
 * reads and writes nothing any more, emits no event, and keeps the connection, even when the peer has
 * closed it. `inactivityMs`: how long the session may be inactive before the PING.
 */
export function endUnresponsive(session: ServerHttp2Session, inactivityMs: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  session.setTimeout(inactivityMs, () => {
    if (timer || session.destroyed) return;
    timer = setTimeout(() => session.destroy(), inactivityMs * PING_TIMEOUT_FACTOR);
    session.ping(() => {
      clearTimeout(timer);
      timer = undefined;
    });
  });
  session.once("close", () => clearTimeout(timer));
}
