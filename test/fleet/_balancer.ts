import { connect, createServer, type Server, type Socket } from "node:net";

/** One address for several servers, as callers have it: each connection goes to one that takes it. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targets: readonly URL[];
  #next = 0;

  constructor(targets: readonly string[]) {
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer({ noDelay: true }, (near) => this.#carry(near, 0));
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

  #carry(near: Socket, refusals: number): void {
    const target = this.#targets[this.#next++ % this.#targets.length];
    if (!target || refusals === this.#targets.length) return void near.destroy();
    const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const refused = (): void => this.#carry(near, refusals + 1);
    far.once("error", refused);
    far.once("connect", () => {
      far.off("error", refused);
      this.#join(near, far);
    });
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [[near, far], [far, near]] as const) {
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
