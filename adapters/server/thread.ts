import { isMainThread, workerData } from "node:worker_threads";
import { createApp } from "../../src/app.ts";
import type { App } from "../../src/app_options.ts";
import type { Config } from "../../src/config.ts";
import { readOnlyStore } from "../../src/placement/announced.ts";
import { encodeFailure } from "../../src/placement/peer_response.ts";
import { partitionsOf, ThreadPeers, type ThreadPort } from "../../src/placement/thread_peers.ts";
import type { Catalog, Log } from "../../src/ports.ts";
import { openThreadStorage, type ThreadStorage } from "../installation/thread_storage.ts";
import { clock } from "../platform/clock.ts";
import type { Listener } from "../platform/listener.ts";
import { appBasics } from "./app_basics.ts";
import { withGeneratedToken } from "./generated_token.ts";
import { listenFor, type OpenPort, type Parts, partsOf } from "./interfaces.ts";
import { openTls } from "./port_tls.ts";
import type { Runtime } from "./runtime.ts";
import { logOf } from "./settings_log.ts";

const KIND = "perdure thread";

/** What a thread gets from the one that starts it. */
export interface ThreadData {
  readonly kind: typeof KIND;
  /** Its number: 1 and more. */
  readonly thread: number;
  readonly threads: number;
  readonly partitions: number;
  readonly config: Config;
  readonly acceptLoss: boolean;
  /** To the others, by their numbers. */
  readonly ports: ReadonlyMap<number, ThreadPort>;
}

/** The data of a thread. */
export function threadData(data: Omit<ThreadData, "kind">): ThreadData {
  return { kind: KIND, ...data };
}

/** What this thread was started with. Undefined: it is the first one of the process. */
export function ownThreadData(): ThreadData | undefined {
  const isOne = !isMainThread && (workerData as Partial<ThreadData> | null)?.kind === KIND;
  return isOne ? workerData as ThreadData : undefined;
}

/** Does what the first thread asks for, in its order: opens, starts, listens, drains, closes. */
export async function serveThread(runtime: Runtime, data: ThreadData): Promise<void> {
  const log = logOf(data.config);
  const thread = new Thread(runtime, data, partsOf(log, await openTls(data.config, log)));
  thread.listenToPeers();
}

class Thread {
  readonly #runtime: Runtime;
  readonly #data: ThreadData;
  readonly #parts: Parts;
  readonly #log: Log;
  readonly #here: readonly number[];
  #peers!: ThreadPeers;
  #storage: ThreadStorage | undefined;
  #app: App | undefined;
  #ingress: Listener | undefined;

  constructor(runtime: Runtime, data: ThreadData, parts: Parts) {
    this.#runtime = runtime;
    this.#data = data;
    this.#parts = parts;
    this.#log = parts.log;
    this.#here = partitionsOf(data.thread, data);
  }

  listenToPeers(): void {
    this.#peers = new ThreadPeers({
      ports: this.#data.ports,
      log: this.#log,
      soon: (call) => clock.soon(call),
      partitionClient: (partition) => this.#app?.partitionClient(partition),
      methods: {
        open: () => this.#open(),
        start: () => this.#start(),
        listen: (open: readonly OpenPort[]) => this.#listen(open),
        reload: () => this.#app?.reload(),
        flush: () => this.#flush(),
        unready: () => this.#app?.unready() ?? [],
        page: () => this.#app?.metricsPage() ?? "",
        drain: (drainMs: number) => this.#ingress?.close(drainMs),
        close: () => this.#close(),
      },
    });
  }

  async #open(): Promise<void> {
    const { config, acceptLoss } = this.#data;
    this.#storage = await openThreadStorage(config, this.#here, {
      log: this.#log,
      acceptLoss,
      onGone: (failure) => void this.#peers.ask(0, "gone", encodeFailure(failure)),
    });
  }

  async #start(): Promise<void> {
    const { partitions, config: settings } = this.#data;
    const storage = this.#storage;
    if (!storage) throw new Error("A thread opens its databases before it starts");
    const config = await withGeneratedToken(settings, () => {});
    const peers = this.#peers;
    this.#app = await createApp({
      ...await appBasics(this.#runtime, config, this.#parts),
      store: storage.store,
      partitions,
      here: this.#here,
      remotePartition: (partition) => peers.partitionClient(partition),
      otherThreads: {
        unready: async () => (await peers.askAll<[]>("unready")).flat(),
        metricsPages: () => Promise.resolve([]),
      },
      deployments: readOnlyStore(() => peers.ask<Catalog>(0, "deployments")),
    });
  }

  /** Answers callers at the port of the first thread, which is among those that are `open`. */
  async #listen(open: readonly OpenPort[]): Promise<void> {
    const { own, ports } = this.#parts;
    for (const { name, host, port } of open) {
      own.add(host, port);
      ports.set(name, port);
    }
    const app = this.#app;
    const { config } = this.#data;
    const port = ports.get("ingress");
    if (!app || port === undefined || !this.#runtime.sharesPorts) return;
    this.#ingress = await listenFor("ingress", {
      ...this.#parts,
      runtime: this.#runtime,
      config: { ...config, "ingress.bind-port": port },
      listeners: this.#data.threads,
      handler: app.ingress,
    });
  }

  async #flush() {
    await this.#storage?.store.flushAll();
    return this.#app?.running() ?? [];
  }

  async #close(): Promise<void> {
    await this.#app?.close();
    await this.#storage?.close();
  }
}
