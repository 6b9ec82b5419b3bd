import { connect, createServer, type Server, type Socket } from "node:net";

/** One address for several servers, as callers have it: each connection goes to one that takes it. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targets: readonly URL[];
  #next = 0;

  constructor(targets: readonly string[]) {
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer({ noDelay: true }, (client) => this.#carry(client, 0));
  }

  /** Answers the address. */
  listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        const address = this.#server.address();
        resolve(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #carry(client: Socket, refusals: number): void {
    const target = this.#targets[this.#next++ % this.#targets.length];
    if (!target || refusals === this.#targets.length) return void client.destroy();
    const server = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const refused = (): void => this.#carry(client, refusals + 1);
    server.once("error", refused);
    server.once("connect", () => {
      server.off("error", refused);
      this.#join(client, server);
    });
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [[client, server], [server, client]] as const) {
      this.#sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
