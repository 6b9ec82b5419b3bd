import type { IncomingHttpHeaders } from "node:http";
import type * as pb from "../../src/wire/gen/service_pb.ts";
import { FrameReader } from "../../src/wire/frame.ts";
import { type Frame, join, print, say, startOf } from "./_script_say.ts";

/** One request of the server and the answer to it, whatever carries them. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  respond(status: number, headers: Readonly<Record<string, string>>): void;
  /** Resolves when the bytes were taken. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** RST_STREAM, or an end of the connection. */
  reset(): void;
  /** The request's body, and how it was over. */
  listen(on: {
    data(chunk: Uint8Array): void;
    end(): void;
    close(): void;
  }): void;
}

/** What was sent before the handler may go on. */
export interface Replay {
  readonly start: pb.Start;
  readonly entries: readonly Frame[];
  /** The entries as `print` shows them. */
  readonly said: readonly string[];
}

const WAIT_MS = 10_000;

/** One attempt as its endpoint lives through it. All waits are bounded and throw. */
export class Attempt {
  /** Of its invocation, from 1. */
  readonly number: number;
  readonly startedAt = Date.now();
  readonly exchange: Exchange;
  readonly received: Frame[] = [];
  /** The server has closed its half. */
  isAsked = false;
  /** The stream is over, in whatever way. */
  isClosed = false;
  #taken = 0;
  #responded = false;
  #ended = false;
  readonly #waiting = new Set<() => void>();
  readonly #reader = new FrameReader(64 * 1024 * 1024);

  constructor(exchange: Exchange, number: number) {
    this.exchange = exchange;
    this.number = number;
    exchange.listen({
      data: (chunk) => {
        this.#reader.push(chunk, (type, flags, body) => {
          this.received.push({ type, flags, body: new Uint8Array(body) });
        });
        this.#wake();
      },
      end: () => (this.isAsked = true, this.#wake()),
      close: () => (this.isClosed = true, this.#wake()),
    });
  }

  get id(): string {
    return String(this.exchange.headers["x-restate-invocation-id"]);
  }

  get contentType(): string {
    return String(this.exchange.headers["content-type"]);
  }

  get service(): string {
    return this.exchange.path.split("/").at(-2) ?? "";
  }

  get handler(): string {
    return this.exchange.path.split("/").at(-1) ?? "";
  }

  /** Reads `Start` and as many entries as it promises. */
  async replay(): Promise<Replay> {
    const start = startOf(await this.next());
    const entries: Frame[] = [];
    while (entries.length < start.knownEntries) entries.push(await this.next());
    return { start, entries, said: entries.map(print) };
  }

  /** The next frame of the server. Throws when none comes. */
  async next(): Promise<Frame> {
    await this.until("a frame", () => this.received.length > this.#taken || this.#isDone);
    const frame = this.received[this.#taken++];
    if (!frame) throw new Error("The server closed its half where a frame was expected");
    return frame;
  }

  /** As `next`, printed. */
  async hear(): Promise<string> {
    return print(await this.next());
  }

  respond(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#responded = true;
    this.exchange.respond(status, headers);
  }

  /** Sends frames in one piece, after a head that agrees to everything. */
  async send(...frames: readonly Uint8Array[]): Promise<void> {
    if (!this.#responded) this.respond(200, { "content-type": this.contentType });
    await this.exchange.write(join(...frames));
  }

  /** Waits for the server to close its half, or to break off. */
  async dismissed(): Promise<void> {
    await this.until("the server to close its half", () => this.#isDone);
  }

  /** Sends last words; closes when the server has closed its half, as real SDKs do. */
  async leave(...frames: readonly Uint8Array[]): Promise<void> {
    await this.send(...frames);
    await this.dismissed();
    this.end();
  }

  async succeed(value = '"done"'): Promise<void> {
    await this.leave(say.output(value), say.end());
  }

  end(): void {
    this.#ended = true;
    this.#wake();
    if (!this.isClosed) this.exchange.end();
  }

  reset(): void {
    this.#ended = true;
    this.#wake();
    this.exchange.reset();
  }

  /** Whether its script has said how it ends. */
  get isLeft(): boolean {
    return this.#ended || this.isClosed;
  }

  get #isDone(): boolean {
    return this.isAsked || this.isClosed;
  }

  async until(what: string, check: () => boolean, withinMs = WAIT_MS): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!check()) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new Error(`Gave up after ${withinMs} ms waiting for ${what}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#waiting.add(() => (clearTimeout(timer), resolve()));
      });
    }
  }
  /** Lets everybody who waits look again. */
  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
