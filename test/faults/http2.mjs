// Faults in the client of HTTP/2 by which attempts reach endpoints.
const ALL = ["exchange", "flow", "session", "hostile", "fuzz", "encoder", "decoder", "header_cache"]
  .map((name) => `test/http2/${name}.test.ts`);

const fault = (file, what, find, replace) => ({
  file: `src/http2/${file}`,
  what,
  find,
  replace,
  tests: ALL,
});

export const http2 = [
  fault(
    "sender.ts",
    "the window of the connection is ignored",
    "SENT_FRAME_BYTES_MAX, stream.sendWindow, this.#window)",
    "SENT_FRAME_BYTES_MAX, stream.sendWindow)",
  ),
  fault(
    "sender.ts",
    "the window of a stream is ignored",
    "SENT_FRAME_BYTES_MAX, stream.sendWindow, this.#window)",
    "SENT_FRAME_BYTES_MAX, this.#window)",
  ),
  fault(
    "sender.ts",
    "changed settings do not reach streams that are open",
    "stream.sendWindow += change;",
    "",
  ),
  fault(
    "sender.ts",
    "one stream sends all it has before the next",
    "if (stream.unsent) this.#waiting.push(stream);",
    "if (stream.unsent) this.#waiting.unshift(stream);",
  ),
  fault(
    "sender.ts",
    "a request that waited does not end",
    "const isEnd = unsent.length === 0 && stream.isEnding;",
    "const isEnd = false;",
  ),
  fault(
    "sender.ts",
    "an aborted stream still waits for its turn",
    "if (index >= 0) this.#waiting.splice(index, 1);",
    "",
  ),
  fault(
    "sender.ts",
    "a full connection is written to all the same",
    "    if (this.#output.isBlocked) return 0;\n",
    "",
  ),
  fault(
    "stream.ts",
    "a paused response is passed on",
    "if (this.#isPaused || this.#held) {",
    "if (this.#held) {",
  ),
  fault(
    "stream.ts",
    "what is held is not copied",
    "push(copyBytes(bytes))",
    "push(bytes)",
  ),
  fault(
    "stream.ts",
    "what is held counts as read",
    "(this.#held ??= []).push(copyBytes(bytes));",
    "(this.#held ??= []).push(copyBytes(bytes)), this.consumed(bytes.length);",
  ),
  fault(
    "stream.ts",
    "a resumed response goes on at once",
    "queueMicrotask(() => this.#release());",
    "this.#release();",
  ),
  fault(
    "stream.ts",
    "a refused stream counts as lost",
    'kind: isBusy ? "busy" : "reset"',
    'kind: "reset"',
  ),
  fault(
    "stream.ts",
    "a stream that was refused in the middle counts as not taken",
    "const isBusy = !this.#hasHead && BUSY.includes(code);",
    "const isBusy = BUSY.includes(code);",
  ),
  fault(
    "stream.ts",
    "a shorter body than announced ends well",
    "if (this.#missing !== undefined && this.#missing > 0) {",
    "if (false) {",
  ),
  fault(
    "stream.ts",
    "a complete response fails with its connection",
    "if (!wasReceived) this.#finish(failure);",
    "this.#finish(failure);",
  ),
  fault(
    "connection.ts",
    "streams that GOAWAY names as not taken wait for ever",
    'if (stream.id > last) stream.fail({ kind: "busy", message });',
    "",
  ),
  fault(
    "connection.ts",
    "the last stream that GOAWAY names fails",
    "if (stream.id > last)",
    "if (stream.id >= last)",
  ),
  fault(
    "session.ts",
    "a connection that says goodbye is given new streams",
    'if (this.#state === "ready") this.#leave();',
    "",
  ),
  fault(
    "connection.ts",
    "the endpoint's limit of streams is ignored",
    "this.#streamsMax = Math.max(1, streamsMax);",
    "this.#streamsMax = Infinity;",
  ),
  fault(
    "connection.ts",
    "an endpoint that asks without reading is served",
    "if (this.#owed > OWED_FRAMES_MAX && this.#output.isBlocked) {",
    "if (false) {",
  ),
  fault(
    "connection.ts",
    "an endpoint that asks often is cut off though it reads",
    "    this.#owed = 0;\n",
    "",
  ),
  fault(
    "receiver.ts",
    "padding is passed on as a part of the body",
    "const to = Math.min(end, from + this.#bodyLeft);",
    "const to = end;",
  ),
  fault(
    "receiver.ts",
    "windows are never renewed",
    "this.#connection.credit(this.#received);",
    "",
  ),
  fault(
    "receiver.ts",
    "any frame may come first",
    'if (type !== frameType.settings || flags & flag.ack) throw broken("no SETTINGS at first");',
    "",
  ),
  fault(
    "frame_reader.ts",
    "a head that was cut in its middle is lost",
    "this.#partial[this.#partialBytes++] = bytes[at++]!;",
    "this.#partial[this.#partialBytes++] = bytes[at]!;",
  ),
  fault(
    "header_cache.ts",
    "a block means what it meant before the table changed",
    "      this.#cached.clear();\n      return block;",
    "      return block;",
  ),
  fault(
    "header_cache.ts",
    "blocks with the same hash are the same",
    "if (known && isSame(known.bytes, bytes, at, end)) return known.block;",
    "if (known) return known.block;",
  ),
  fault(
    "session.ts",
    "idle connections are kept",
    "else if (++this.#idleTicks * tickMs > idleMs) this.#connection.retire();",
    "",
  ),
  fault(
    "session.ts",
    "a connection in use keeps counting as idle",
    "    this.#idleTicks = 0;\n",
    "",
  ),
  fault(
    "session.ts",
    "an unanswered PING is waited for",
    "() => this.#connection.destroy(`no answer to a PING within ${pingTimeoutMs} ms`),",
    "() => {},",
  ),
  fault(
    "session.ts",
    "a connection without streams keeps the process alive",
    "    if (this.streams === 0) this.#connection.hold(false);\n",
    "",
  ),
  fault(
    "output.ts",
    "each frame is a write of its own",
    "queueMicrotask(() => this.flush());",
    "this.flush();",
  ),
  fault(
    "hpack/encoder.ts",
    "a value that repeated once is sent for ever",
    "      known.encoded = undefined;\n    }",
    "    }",
  ),
  fault(
    "hpack/dynamic_table.ts",
    "the table keeps the newest headers beyond its size",
    "    this.#drop(this.#bytesLimit - bytes);\n    if (bytes",
    "    if (bytes",
  ),
];
