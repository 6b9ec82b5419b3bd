import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Answer, UnreadAnswers } from "./unread_answers.ts";
import type { ListenOptions, PortLimits } from "../platform/listener.ts";
import { secureOptions } from "../tls/secure_port.ts";

const KEEP_ALIVE_MS = 75_000;

/** An answer to a pipelined request that is no longer than this is not counted while it waits for its turn. */
const WAITING_BYTES_MAX = 16 * 1024;

export interface Http1Options extends Pick<ListenOptions, "tls"> {
  readonly state: { readonly draining: boolean };
  readonly unread: UnreadAnswers;
  readonly limits: PortLimits;
}

/**
 * A server of HTTP/1.1, over TLS with `tls`, that does not listen yet. While `state.draining` its
 * answers close their connections.
 */
export function http1Server(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { tls, limits, ...outgoing }: Http1Options,
): Server {
  const { headTimeoutMs: headersTimeout, requestTimeoutMs } = limits;
  const requestTimeout = requestTimeoutMs && Math.max(requestTimeoutMs, headersTimeout);
  const options = {
    maxHeaderSize: limits.headBytesMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout,
    // Of the request alone: callers may wait for ever (docs/spec/ingress.md#connections). Node refuses one
    // that is shorter than `headersTimeout`.
    requestTimeout,
    connectionsCheckingInterval: Math.min(30_000, headersTimeout / 2),
    noDelay: true,
    // No path depends on it, and the reference does not require it.
    requireHostHeader: false,
    ServerResponse: outgoingClass(outgoing) as typeof ServerResponse,
  };
  const server = tls
    ? createSecureServer({ ...options, ...secureOptions(tls) }, answer)
    : createServer(options, answer);
  server.timeout = 0;
  // Expectations other than 100-continue are left to the handler, like any other header.
  server.on("checkExpectation", answer);
  // Node drops header lines beyond this silently: count one more than we allow, then refuse.
  server.maxHeadersCount = limits.headLinesMax + 1;
  return server;
}

function outgoingClass({ state, unread }: Pick<Http1Options, "state" | "unread">) {
  return class Outgoing extends ServerResponse<IncomingMessage> implements Answer {
    // An answer whose turn has not come has no socket, and its request has.
    get transport(): Socket {
      return this.req.socket;
    }

    override writeHead(status: number, ...rest: unknown[]): this {
      // A server that stops makes its callers open another connection for their next request.
      if (state.draining) this.shouldKeepAlive = false;
      const headers = rest.find((one) => typeof one === "object") as OutgoingHttpHeaders;
      return super.writeHead(status, STATUS_CODES[status] ?? "", headers);
    }

    override write(...given: unknown[]): boolean {
      const isTaken = super.write(...given as [unknown]);
      if (!isTaken) unread.add(this);
      return isTaken;
    }

    override end(...given: unknown[]): this {
      super.end(...given as []);
      // Most answers are taken by the system at once. Small ones may wait for their turn uncounted.
      const bytes = this.writableLength;
      if (bytes > (this.socket ? 0 : WAITING_BYTES_MAX)) unread.add(this);
      return this;
    }

    setReadTimeout(timeoutMs: number): void {
      // Node counts what the system takes as activity, ends the connection, and sets another timeout
      // behind the answer.
      this.socket?.setTimeout(timeoutMs);
    }
  };
}
