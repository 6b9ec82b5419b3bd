// HTTP/1.1 requests over one kept connection, one after the other, for as little CPU as it takes:
// the load and the servers share the machine, and what node:http spends on a request would be
// measured as if the servers did.
import net from "node:net";

export class Caller {
  #socket;
  #head;
  #heard = "";
  #answered;

  constructor(origin) {
    const { hostname, port, host } = new URL(origin);
    this.#head = `HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: `;
    this.#socket = net.connect({ host: hostname, port, noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => this.#hear(text));
    this.#socket.on("error", (cause) => this.#answered?.reject(cause));
    this.#socket.on("close", () => this.#answered?.reject(new Error("connection closed")));
  }

  /** `body` is ASCII. Resolves with the status once the answer is there, whose body is dropped. */
  post(path, body) {
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject };
      this.#socket.write(`POST ${path} ${this.#head}${body.length}\r\n\r\n${body}`, "latin1");
    });
  }

  close() {
    this.#answered = undefined;
    this.#socket.destroy();
  }

  #hear(text) {
    const heard = this.#heard + text;
    if (!isWhole(heard)) return void (this.#heard = heard);
    this.#heard = "";
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.resolve(Number(heard.slice(9, 12)));
  }
}

function isWhole(heard) {
  const end = heard.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const size = /\r\ncontent-length: *(\d+)/i.exec(heard);
  if (size && size.index < end) return heard.length >= end + 4 + Number(size[1]);
  // In chunks, or without a body at all.
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(heard.slice(0, end + 2));
  return !isChunked || heard.endsWith("0\r\n\r\n");
}
