import type { DialListener, DialRequest, Exchange } from "../dial.ts";
import type { After, OpenByteStream } from "./byte_stream.ts";
import { HeaderEncoder } from "./hpack/encoder.ts";
import { Http2Session, type SessionSettings } from "./session.ts";
import { SessionPool } from "./session_pool.ts";

/** What a platform provides, and how its sessions behave. */
export interface ClientOptions {
  readonly settings: SessionSettings;
  /** Connects to the host and port of a URL. */
  readonly connect: (url: URL) => OpenByteStream;
  /** A timer that does not keep the process alive. */
  readonly after: After;
}

/** HTTP/2 with prior knowledge over cleartext, to one address: its sessions, and exchanges on them. */
export class Http2Client {
  readonly #pool: SessionPool;
  readonly #sessions = new Set<Http2Session>();

  constructor(url: URL, { settings, connect, after }: ClientOptions) {
    const encoder = new HeaderEncoder(url.host);
    const open = connect(url);
    this.#pool = new SessionPool(settings.streamsMax, (timeoutMs, owner) => {
      const session = new Http2Session({ settings, encoder, after, open, timeoutMs }, {
        ...owner,
        gone: (failure) => {
          this.#sessions.delete(session);
          owner.gone(failure);
        },
      });
      this.#sessions.add(session);
      return session;
    });
  }

  /** `path`: with the query. */
  open(path: string, request: DialRequest, listener: DialListener): Exchange {
    return this.#pool.open(path, request, listener);
  }

  close(): void {
    this.#pool.close();
  }

  /** Streams that are open, and bytes of them that wait to be sent. */
  get load(): { readonly streams: number; readonly queuedBytes: number } {
    let streams = 0, queuedBytes = 0;
    for (const session of this.#sessions) {
      streams += session.streams;
      queuedBytes += session.queuedBytes;
    }
    return { streams, queuedBytes };
  }
}
