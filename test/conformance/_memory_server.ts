import { nodeDial } from "../../adapters/dial/dial.ts";
import { nodeReader } from "../../adapters/node/bridge.ts";
import { listen } from "../../adapters/node/listen.ts";
import type { Listener } from "../../adapters/platform/listener.ts";
import { clock } from "../../adapters/platform/clock.ts";
import { random } from "../../adapters/platform/random.ts";
import { VERSION } from "../../adapters/platform/version.ts";
import { createApp } from "../../src/app.ts";
import type { App } from "../../src/app_options.ts";
import { type Config, readConfig } from "../../src/config.ts";
import type { Log } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { freePorts, until } from "../support/child.ts";
import { MemoryCatalog } from "../support/memory_catalog.ts";
import { QUICK } from "../support/server.ts";
import type { Subject } from "./_world.ts";

/** A server in this process, over rows in memory that outlive its restarts. */
class MemoryServer implements Subject {
  readonly ingress: string;
  readonly admin: string;
  readonly #config: Config;
  readonly #rows = new MemoryStore();
  readonly #deployments = new MemoryCatalog();
  readonly #lines: string[] = [];
  #stopping: ((drainMs: number) => Promise<void>) | undefined;

  constructor(
    [ingress = 0, admin = 0]: readonly number[],
    settings: Readonly<Record<string, string>>,
  ) {
    this.ingress = `http://127.0.0.1:${ingress}`;
    this.admin = `http://127.0.0.1:${admin}`;
    const env = Object.entries({
      ...QUICK,
      INGRESS__BIND_PORT: String(ingress),
      ADMIN__BIND_PORT: String(admin),
      ...settings,
    }).map(([name, value]) => [`SVC_${name}`, value]);
    this.#config = readConfig({ env: Object.fromEntries(env) });
  }

  /** As `adapters/server/serve.ts` does it. */
  async start(): Promise<void> {
    const config = this.#config;
    const dial = nodeDial({
      streamsMax: config["worker.invoker.streams-per-connection"],
      idleMs: config["worker.invoker.idle-connection-timeout"],
    });
    const app = await createApp({
      platform: { clock, random, log: this.#log, dial },
      config,
      store: this.#rows,
      deployments: this.#deployments,
      version: VERSION,
      reader: nodeReader,
    });
    const listeners = [await this.#listen("ingress", app), await this.#listen("admin", app)];
    this.#stopping = async (drainMs) => {
      await Promise.all(listeners.map((one) => one.close(drainMs)));
      await app.close();
    };
    // Until then a caller may take a connection from its pool that has just been cut.
    for (const url of [`${this.ingress}/svc/health`, `${this.admin}/health`]) {
      await until("the server", () => fetch(url).then(({ ok }) => ok, () => false), 20_000);
    }
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<undefined> {
    const stopping = this.#stopping;
    this.#stopping = undefined;
    await stopping?.(signal === "SIGKILL" ? 0 : this.#config["ingress.drain-timeout"]);
  }

  /** Everybody is cut off and forgotten, and a new server claims the rows. */
  async crash(): Promise<void> {
    await this.stop();
    await this.start();
  }

  signal(): void {
    throw new Error("Cannot signal a server that is no process");
  }

  rival(): Promise<never> {
    return Promise.reject(new Error("Cannot start a rival over rows that nobody else can see"));
  }

  isAlive(): boolean {
    return this.#stopping !== undefined;
  }

  said(): string {
    return this.logs();
  }

  logs(): string {
    return this.#lines.join("\n");
  }

  async close(): Promise<void> {
    await this.stop();
  }

  readonly #log: Log = (level, message, fields) =>
    void this.#lines.push(JSON.stringify({ level, message, ...fields }));

  #listen(what: "ingress" | "admin", app: App): Promise<Listener> {
    const port = this.#config[`${what}.bind-port`];
    return listen({ host: "127.0.0.1", port, handler: app[what], log: this.#log });
  }
}

/** A server that runs, with no rows. */
export async function startInMemory(
  settings: Readonly<Record<string, string>> = {},
): Promise<Subject> {
  const server = new MemoryServer(await freePorts(2), settings);
  await server.start();
  return server;
}
