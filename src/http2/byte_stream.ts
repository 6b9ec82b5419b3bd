/**
 * A connection of a platform as two streams of bytes: all that HTTP/2 needs of it. Opening returns
 * at once; what happens then is reported to the listener, never from within a method of the stream.
 */
export type OpenByteStream = (listener: ByteListener) => ByteStream;

export interface ByteStream {
  /**
   * Sends bytes in order. Returns false when its buffer is full: wait for `drained`. They are taken
   * in any case, and must not be changed afterwards. The array is used during the call only.
   */
  write(pieces: readonly Uint8Array[]): boolean;
  /** Sends what was written, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
  /** Whether the connection keeps its process alive. At first it does. */
  hold(isHeld: boolean): void;
}

/** Called in this order: opened, then received and drained, then closed once. */
export interface ByteListener {
  opened(): void;
  /** `bytes` are valid during the call only: the next ones may be read into the same memory. */
  received(bytes: Uint8Array): void;
  drained(): void;
  /** `error`: why it broke, or was never opened. Absent: it was closed, by either side. */
  closed(error?: Error): void;
}

/** Calls back once, in `ms` milliseconds. Returns a function that cancels it. */
export type After = (ms: number, call: () => void) => () => void;
