import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * A TCP proxy that makes `target` be far away: every byte comes later by half of `delayMs`, in each
 * direction, so an answer comes later by all of it. It can also lose what is on the way.
 */
export class Distance {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections opened so far. */
  connections = 0;
  /** Nothing passes in either direction, and nobody is told, as when a cable is cut. */
  isCut = false;

  constructor({ target, delayMs }: { readonly target: URL; readonly delayMs: number }) {
    const host = { host: target.hostname, port: Number(target.port), noDelay: true };
    this.#server = createServer({ noDelay: true }, (client) => {
      this.connections++;
      const server = connect(host);
      this.#carry(client, server, delayMs / 2);
      this.#carry(server, client, delayMs / 2);
    });
  }

  /** Answers the address to use in place of the target's. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        const address = this.#server.address();
        const port = typeof address === "object" && address ? address.port : 0;
        resolve(`http://127.0.0.1:${port}`);
      });
    });
  }

  /** Breaks every connection, with what is on the way. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.reset();
    await closed;
  }

  #carry(from: Socket, to: Socket, delayMs: number): void {
    this.#sockets.add(from);
    const later = (act: () => void) => setTimeout(act, delayMs);
    from.on("data", (chunk) => {
      if (!this.isCut) later(() => to.writable && to.write(chunk));
    });
    from.on("end", () => later(() => to.end()));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      later(() => to.destroy());
    });
  }
}
