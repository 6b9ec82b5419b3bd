import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Answer, UnreadAnswers } from "./unread_answers.ts";

/**
 * Requests of one HTTP/1.1 connection that are under way at once. Further ones wait until earlier ones
 * are answered, and no more is read from the connection meanwhile.
 */
const PIPELINED_MAX = 32;
/** What a request takes that waits. One packet of 64 KiB has some 2,700 of the shortest. */
const WAITING_BYTES = 4 * 1024;

type Begin = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Begins requests of HTTP/1.1 connections in their order, some of one connection at once (decision 067).
 * Node begins all that came with one read, and keeps all their answers. Requests that wait count as what
 * their client does not read.
 */
export function pipelined(begin: Begin, unread: UnreadAnswers): Begin {
  const pipelines = new WeakMap<Socket, Pipeline>();
  return (request, response) => {
    const { socket } = request;
    let pipeline = pipelines.get(socket);
    if (!pipeline) pipelines.set(socket, pipeline = new Pipeline(socket, { begin, unread }));
    pipeline.add(request, response);
  };
}

/** The requests of one connection. */
class Pipeline implements Answer {
  readonly transport: Socket;
  readonly #begin: Begin;
  readonly #unread: UnreadAnswers;
  readonly #underWay = new Set<ServerResponse>();
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  readonly #closed: (this: ServerResponse) => void;

  constructor(socket: Socket, { begin, unread }: {
    readonly begin: Begin;
    readonly unread: UnreadAnswers;
  }) {
    this.transport = socket;
    this.#begin = begin;
    this.#unread = unread;
    const end = (response: ServerResponse) => this.#end(response);
    this.#closed = function () {
      end(this);
    };
    socket.once("close", () => this.#endAll());
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (this.#underWay.size < PIPELINED_MAX) return this.#start(request, response);
    this.#waiting.push([request, response]);
    // An answer that is over makes Node read on.
    this.transport.pause();
    if (this.#waiting.length === 1) this.#unread.add(this);
  }

  get writableLength(): number {
    return WAITING_BYTES * this.#waiting.length;
  }

  /** The answer whose turn it is has a timeout of its own. */
  setReadTimeout(): void {}

  on(_event: "close", listener: (this: Answer) => void): void {
    this.transport.once("close", () => listener.call(this));
  }

  #start(request: IncomingMessage, response: ServerResponse): void {
    this.#underWay.add(response);
    response.on("close", this.#closed);
    this.#begin(request, response);
  }

  #end(response: ServerResponse): void {
    this.#underWay.delete(response);
    if (this.transport.destroyed) return;
    const next = this.#waiting.shift();
    if (!next) return;
    if (this.#waiting.length === 0) this.transport.resume();
    this.#start(...next);
  }

  /** Node closes only the answer whose turn it was; others would wait for their results for good. */
  #endAll(): void {
    this.#waiting.length = 0;
    for (const response of [...this.#underWay]) {
      if (response.socket) continue;
      response.destroyed = true;
      response.emit("close");
    }
  }
}
