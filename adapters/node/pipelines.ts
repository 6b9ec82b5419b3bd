import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Requests of one HTTP/1.1 connection that are under way at once. Further ones wait until earlier ones
 * are answered, and no more is read from the connection meanwhile.
 */
const PIPELINED_MAX = 32;

type Begin = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Begins requests of HTTP/1.1 connections in their order, some of one connection at once (decision 067).
 * Node begins all that came with one read, some thousands in 64 KiB, and keeps all their answers.
 */
export function pipelined(begin: Begin): Begin {
  const pipelines = new WeakMap<Socket, Pipeline>();
  return (request, response) => {
    const { socket } = request;
    let pipeline = pipelines.get(socket);
    if (!pipeline) pipelines.set(socket, pipeline = new Pipeline(socket, begin));
    pipeline.add(request, response);
  };
}

/** The requests of one connection. */
class Pipeline {
  readonly #socket: Socket;
  readonly #begin: Begin;
  readonly #underWay = new Set<ServerResponse>();
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  readonly #closed: (this: ServerResponse) => void;

  constructor(socket: Socket, begin: Begin) {
    this.#socket = socket;
    this.#begin = begin;
    const end = (response: ServerResponse) => this.#end(response);
    this.#closed = function () {
      end(this);
    };
    socket.once("close", () => this.#endAll());
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (this.#underWay.size < PIPELINED_MAX) return this.#start(request, response);
    this.#waiting.push([request, response]);
    this.#socket.pause();
  }

  #start(request: IncomingMessage, response: ServerResponse): void {
    this.#underWay.add(response);
    response.on("close", this.#closed);
    this.#begin(request, response);
  }

  #end(response: ServerResponse): void {
    this.#underWay.delete(response);
    if (this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    if (!next) return;
    if (this.#waiting.length === 0) this.#socket.resume();
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
