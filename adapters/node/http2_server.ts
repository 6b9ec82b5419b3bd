import {
  constants,
  createServer,
  type Http2Server,
  Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Log } from "../../src/ports.ts";
import { endUnresponsive } from "./http2_keepalive.ts";
import { resetOptions, StreamResets } from "./stream_resets.ts";
import type { Answer, UnreadAnswers } from "./unread_answers.ts";
import type { PortLimits } from "../platform/listener.ts";
import type { OpenConnections } from "../platform/open_connections.ts";

/** docs/spec/runtimes.md#listeners */
const STREAMS_MAX = 200;
const WINDOW_BYTES = 1024 * 1024;
/** Node resets an HTTP/2 stream with a higher status instead of sending it. */
const STATUS_MAX = 599;

export interface Http2Options {
  readonly inactivityMs: number;
  readonly open: OpenConnections;
  readonly unread: UnreadAnswers;
  readonly limits: PortLimits;
  readonly log: Log;
}

/** A server of HTTP/2 that is given its connections, and its sessions that are open. */
export function http2Server(
  answer: (request: never, response: never) => void,
  { inactivityMs, open, unread, limits, log }: Http2Options,
): { server: Http2Server; sessions: Set<ServerHttp2Session> } {
  const sessions = new Set<ServerHttp2Session>();
  const { headBytesMax, headLinesMax, streamResetsMax } = limits;
  const resets = new StreamResets(streamResetsMax, log);
  const server = createServer({
    settings: {
      maxConcurrentStreams: STREAMS_MAX,
      initialWindowSize: WINDOW_BYTES,
      maxHeaderListSize: headBytesMax,
    },
    maxHeaderListPairs: 2 * headLinesMax,
    ...resetOptions(streamResetsMax),
    Http2ServerResponse: outgoingClass(unread) as unknown as typeof Http2ServerResponse,
  }, answer as never);
  server.setTimeout(0);
  server.on("stream", (stream) => open.addStream(stream));
  server.on("session", (session) => {
    sessions.add(session);
    session.setLocalWindowSize(4 * WINDOW_BYTES);
    endUnresponsive(session, inactivityMs);
    resets.watch(session);
    // Without a listener, a broken connection of an untrusted client would end this process.
    session.on("error", () => session.destroy());
    session.once("close", () => sessions.delete(session));
  });
  return { server, sessions };
}

function outgoingClass(unread: UnreadAnswers) {
  return class Outgoing extends Http2ServerResponse implements Answer {
    get transport(): ServerHttp2Session | undefined {
      return this.stream?.session as ServerHttp2Session | undefined;
    }

    override writeHead(status: number, ...rest: never[]): this {
      // A handler may fail with any code; the body still contains it.
      return super.writeHead(status > STATUS_MAX ? 500 : status, ...rest);
    }

    override write(chunk: string | Uint8Array, ...more: never[]): boolean {
      const isTaken = super.write(chunk, ...more);
      if (!isTaken) unread.add(this);
      return isTaken;
    }

    override end(...given: unknown[]): this {
      super.end(...given as []);
      unread.add(this);
      return this;
    }

    setReadTimeout(timeoutMs: number): void {
      const { stream } = this;
      const isFirst = stream.listenerCount("timeout", giveUp) === 0;
      stream.setTimeout(timeoutMs);
      if (isFirst) stream.once("timeout", giveUp);
    }
  };
}

/** Frees what a client does not read of one answer. Others of its connection go on. */
function giveUp(this: { close(code: number): void }): void {
  this.close(constants.NGHTTP2_CANCEL);
}
