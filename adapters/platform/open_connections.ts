import type { ConnectionState, Traffic } from "../../src/vitals.ts";

/** Those parts of a socket, an HTTP/2 session and an HTTP/2 stream that tell their state. */
interface Closable {
  readonly connecting?: boolean;
  readonly closed?: boolean;
  readonly destroyed?: boolean;
  readonly writableEnded?: boolean;
  /** Bytes that were written to it and wait to be sent. */
  readonly writableLength?: number;
  once(event: "close", listener: () => void): unknown;
}

/** Streams that are open, and bytes of them that wait to be sent. */
export interface Load {
  readonly streams: number;
  readonly queuedBytes: number;
}

/** Connections and streams of one interface. It keeps the objects, and counts when it is asked. */
export class OpenConnections {
  readonly #connections = new Map<Closable, ConnectionState>();
  readonly #streams = new Set<Closable>();
  readonly #loads: (() => Load)[] = [];

  /** Counts a connection until it closes. `state`: its state while it neither connects nor closes. */
  add(connection: Closable, state: ConnectionState): void {
    if (!this.#connections.has(connection)) {
      connection.once("close", () => this.#connections.delete(connection));
    }
    this.#connections.set(connection, state);
  }

  /** Counts a stream until it closes. */
  addStream(stream: Closable): void {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
  }

  /** Counts streams that are not objects of the platform. */
  addLoad(load: () => Load): void {
    this.#loads.push(load);
  }

  count(): Omit<Traffic, "interface"> {
    const connections = { connecting: 0, fresh: 0, http1: 0, http2: 0, closing: 0 };
    for (const [connection, state] of this.#connections) connections[stateOf(connection, state)]++;
    let queuedBytes = 0;
    for (const one of this.#connections.keys()) queuedBytes += one.writableLength ?? 0;
    for (const one of this.#streams) queuedBytes += one.writableLength ?? 0;
    let streams = this.#streams.size;
    for (const load of this.#loads) {
      const more = load();
      streams += more.streams;
      queuedBytes += more.queuedBytes;
    }
    return { connections, streams, queuedBytes };
  }
}

function stateOf(connection: Closable, state: ConnectionState): ConnectionState {
  if (connection.connecting) return "connecting";
  const { destroyed, closed, writableEnded } = connection;
  return destroyed || closed || writableEnded ? "closing" : state;
}
