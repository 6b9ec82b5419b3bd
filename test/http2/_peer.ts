import type { DialRequest, Exchange } from "../../src/dial.ts";
import type { ByteListener, ByteStream } from "../../src/http2/byte_stream.ts";
import { Http2Client } from "../../src/http2/client.ts";
import { FRAME_HEAD_BYTES, frameType, PREFACE } from "../../src/http2/protocol.ts";
import { join, latin1, textOf } from "./_bytes.ts";

/** A frame of either side. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array | readonly number[] = [],
): Uint8Array {
  const { length } = payload;
  return join(
    [length >>> 16, length >>> 8 & 0xff, length & 0xff, type, flags],
    int32(stream),
    payload,
  );
}

export function int32(value: number): number[] {
  return [value >>> 24, value >>> 16 & 0xff, value >>> 8 & 0xff, value & 0xff];
}

/** Settings of the server, by their numbers. */
export function settings(...pairs: readonly (readonly [number, number])[]): Uint8Array {
  return frame(4, 0, 0, pairs.flatMap(([id, value]) => [0, id, ...int32(value)]));
}

/** A literal header, without any table. */
export function field(name: string, value: string): Uint8Array {
  return join([0, name.length], latin1(name), [value.length], latin1(value));
}

/** `:status 200`, from the static table. */
export const OK = [0x88];
export const END_STREAM = 1, END_HEADERS = 4;

export const head = (stream: number, flags = END_HEADERS, block: readonly number[] = OK) =>
  frame(frameType.headers, flags, stream, block);
export const data = (stream: number, text: string, flags = 0) =>
  frame(frameType.data, flags, stream, latin1(text));
export const reset = (stream: number, code: number) =>
  frame(frameType.rstStream, 0, stream, int32(code));
export const windowUpdate = (stream: number, bytes: number) =>
  frame(frameType.windowUpdate, 0, stream, int32(bytes));
export const goaway = (last: number, code: number, debug = "") =>
  frame(frameType.goaway, 0, 0, join(int32(last), int32(code), latin1(debug)));
export const ping = (flags = 0, payload = [1, 2, 3, 4, 5, 6, 7, 8]) =>
  frame(frameType.ping, flags, 0, payload);

/** One connection, as the server sees it. */
export class Peer implements ByteStream {
  readonly listener: ByteListener;
  /** Bytes that were received and are not frames yet. */
  #bytes: Uint8Array = new Uint8Array(0);
  #hasPreface = false;
  readonly frames: Frame[] = [];
  writes = 0;
  /** Whether the connection takes more bytes at once. */
  hasRoom = true;
  isHeld = true;
  isEnded = false;
  isDestroyed = false;

  constructor(listener: ByteListener) {
    this.listener = listener;
  }

  write(pieces: readonly Uint8Array[]): boolean {
    this.writes++;
    this.#bytes = join(this.#bytes, ...pieces);
    if (!this.#hasPreface) {
      const start = textOf(this.#bytes.subarray(0, PREFACE.length));
      if (start !== PREFACE) throw new Error(`no preface: ${start}`);
      this.#hasPreface = true;
      this.#bytes = this.#bytes.subarray(PREFACE.length);
    }
    for (;;) {
      const [a = 0, b = 0, c = 0, type = 0, flags = 0] = this.#bytes;
      const end = FRAME_HEAD_BYTES + (a << 16 | b << 8 | c);
      if (this.#bytes.length < Math.max(end, FRAME_HEAD_BYTES)) return this.hasRoom;
      const stream = new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getUint32(5);
      const payload = this.#bytes.slice(FRAME_HEAD_BYTES, end);
      this.frames.push({ type, flags, stream, payload });
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  end(): void {
    this.isEnded = true;
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
  }

  send(...frames: readonly Uint8Array[]): void {
    this.listener.received(join(...frames));
  }

  /** Accepts the connection. */
  accept(...first: readonly Uint8Array[]): void {
    this.listener.opened();
    this.send(...(first.length > 0 ? first : [settings()]));
  }

  /** Frames of one type that were received. */
  of(type: number): Frame[] {
    return this.frames.filter((one) => one.type === type);
  }

  /** The bodies received on a stream, together. */
  body(stream: number): string {
    const parts = this.of(frameType.data).filter((one) => one.stream === stream);
    return textOf(join(...parts.map(({ payload }) => payload)));
  }
}

/** Timers that a test fires. */
export class Timers {
  readonly #due: { readonly ms: number; readonly call: () => void; isCanceled: boolean }[] = [];

  after = (ms: number, call: () => void): () => void => {
    const timer = { ms, call, isCanceled: false };
    this.#due.push(timer);
    return () => timer.isCanceled = true;
  };

  /** Fires those of `ms` milliseconds that are set now. Returns how many. */
  fire(ms: number): number {
    const due = this.#due.filter((timer) => timer.ms === ms && !timer.isCanceled);
    for (const timer of due) {
      timer.isCanceled = true;
      timer.call();
    }
    return due.length;
  }
}

/** What an exchange has received. */
export interface Talk {
  readonly exchange: Exchange;
  readonly received: string[];
}

export const CONNECT_MS = 1000, IDLE_MS = 2000, PING_MS = 3000, PONG_MS = 4000;

/** A client in memory, whose servers are `Peer`s. */
export class Stage {
  readonly peers: Peer[] = [];
  readonly timers = new Timers();
  readonly client: Http2Client;

  constructor(streamsMax = 100) {
    this.client = new Http2Client(new URL("http://host:1/"), {
      settings: { streamsMax, idleMs: IDLE_MS, pingMs: PING_MS, pingTimeoutMs: PONG_MS },
      connect: () => (listener) => {
        const peer = new Peer(listener);
        this.peers.push(peer);
        return peer;
      },
      after: this.timers.after,
    });
  }

  get peer(): Peer {
    return this.peers[0]!;
  }

  open(
    method: DialRequest["method"] = "POST",
    { headers = {}, onChunk = () => {} }: {
      readonly headers?: DialRequest["headers"];
      readonly onChunk?: (exchange: Exchange, text: string) => void;
    } = {},
  ): Talk {
    const received: string[] = [];
    const url = "http://host:1/path";
    const request = { url, method, headers, version: "h2", connectTimeoutMs: CONNECT_MS } as const;
    const exchange: Exchange = this.client.open("/path", request, {
      head: (one) => received.push(`head ${one.status} ${one.header("x-a") ?? ""}`.trimEnd()),
      chunk: (bytes) => {
        const text = textOf(bytes);
        received.push(text);
        onChunk(exchange, text);
      },
      end: () => received.push("end"),
      failed: ({ kind, message }) => received.push(`${kind}: ${message}`),
      drain: () => received.push("drain"),
    });
    return { exchange, received };
  }

  /** A client with a connection that is ready, and as many exchanges on it as wanted. */
  static async ready(count = 1, ...first: readonly Uint8Array[]): Promise<[Stage, ...Talk[]]> {
    const stage = new Stage();
    const talks = Array.from({ length: count }, () => stage.open());
    stage.peer.accept(...first);
    await settled();
    return [stage, ...talks];
  }
}

/** Until all microtasks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
