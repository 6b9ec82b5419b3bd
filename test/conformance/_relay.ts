import { connect, createServer, type Server, type Socket } from "node:net";

/** Passes connections on to `target`, and can end its callers' side of them as a test likes. */
export class Relay {
  readonly #server: Server;
  readonly #callers = new Map<Socket, Socket>();

  constructor(target: URL) {
    this.#server = createServer({ noDelay: true }, (caller) => {
      const callee = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
      this.#callers.set(caller, callee);
      caller.pipe(callee).pipe(caller);
      for (const [one, other] of [[caller, callee], [callee, caller]] as const) {
        one.on("error", () => {}).on("close", () => other.destroy());
      }
      caller.on("close", () => this.#callers.delete(caller));
    });
  }

  /** Connections that callers have. */
  get open(): number {
    return this.#callers.size;
  }

  /** Answers the address to use in place of the target's. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        const address = this.#server.address();
        resolve(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
      });
    });
  }

  /** Ends every connection on this side, in whatever it is. */
  cut(how: "FIN" | "RST"): void {
    for (const [caller, callee] of this.#callers) {
      caller.unpipe(callee);
      callee.unpipe(caller);
      if (how === "FIN") caller.resume().end();
      else caller.resetAndDestroy();
      callee.destroy();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const caller of this.#callers.keys()) caller.destroy();
    await closed;
  }
}
