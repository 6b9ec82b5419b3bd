import process from "node:process";
import { MessageChannel, Worker } from "node:worker_threads";
import type { App, OtherThreads } from "../../src/app_options.ts";
import type { Config } from "../../src/config.ts";
import type { Unready } from "../../src/model/readiness.ts";
import { announcedStore } from "../../src/placement/announced.ts";
import { decodeFailure, type EncodedFailure } from "../../src/placement/peer_response.ts";
import { fleetIntrospection } from "../../src/placement/fleet_introspection.ts";
import {
  partitionsOf,
  threadOf,
  ThreadPeers,
  type ThreadPort,
} from "../../src/placement/thread_peers.ts";
import type { DeploymentStore, Log, PartitionClient } from "../../src/ports.ts";
import type { Introspection, RunningAttempt } from "../../src/query_port.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import type { FolderThreads } from "../installation/files.ts";
import { threadsFor, threadsOf } from "../installation/threads.ts";
import { clock } from "../platform/clock.ts";
import { thisMachine } from "../platform/machine.ts";
import type { OpenPort } from "./interfaces.ts";
import { BUG_CODE, endOnLoss } from "./process_end.ts";
import { threadData } from "./thread.ts";

export interface ThreadsOptions {
  /** The module that a thread runs: the entry of this process. */
  readonly entry: string;
  readonly config: Config;
  readonly acceptLoss: boolean;
  readonly log: Log;
}

const ONE_THREAD =
  "One thread serves this data, whose partitions share a file, though this machine has " +
  "use for more: a copy by `perdure reshard` can have a file for each (docs/scale.md#more-partitions)";

/**
 * The threads of this process beside the first one, which starts them, tells them what is registered and
 * what to do, and answers operators for all. With one thread it has no peers, and does nothing.
 */
export class Threads implements FolderThreads {
  readonly #options: ThreadsOptions;
  readonly #machine = thisMachine();
  #threads = 1;
  #partitions = 1;
  #peers: ThreadPeers | undefined;
  #app: App | undefined;
  #deployments: DeploymentStore | undefined;
  #isEnding = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  threadOf(partition: number, layout: Layout): number {
    return threadOf(partition, this.#countOf(layout));
  }

  /** Starts the threads that a data folder has use for, and has them open their databases. */
  async open(layout: Layout): Promise<void> {
    this.#threads = this.#countOf(layout);
    this.#partitions = layout.partitions;
    const { log, config } = this.#options;
    if (this.#threads === 1) {
      const useful = threadsFor(this.#machine);
      if (config["threads"] === 0 && useful > 1) log("info", ONE_THREAD, { useful });
      return;
    }
    const ports = mesh(this.#threads);
    for (const [thread, others] of ports.entries()) if (thread > 0) this.#start(thread, others);
    this.#peers = new ThreadPeers({
      ports: ports[0] ?? new Map(),
      log,
      soon: (call) => clock.soon(call),
      partitionClient: (partition) => this.#app?.partitionClient(partition),
      methods: {
        deployments: () => this.#deployments?.load(),
        unready: () => this.#app?.unready() ?? [],
        gone: (failure: EncodedFailure) => endOnLoss(log, decodeFailure(failure)),
      },
    });
    await this.#peers.askAll("open");
    log("info", "Threads share the partitions", { threads: this.#threads });
  }

  /** What the app of this thread has of the others. */
  appOptions(deployments: DeploymentStore, introspection: Introspection): ThreadAppOptions {
    this.#deployments = deployments;
    const peers = this.#peers;
    if (!peers) return { deployments, introspection };
    const flush = async () => (await peers.askAll<readonly RunningAttempt[]>("flush")).flat();
    return {
      deployments: announcedStore(deployments, async () => void await peers.askAll("reload")),
      introspection: fleetIntrospection(introspection, flush),
      here: partitionsOf(0, { threads: this.#threads, partitions: this.#partitions }),
      remotePartition: (partition) => peers.partitionClient(partition),
      otherThreads: {
        unready: async () => (await peers.askAll<readonly Unready[]>("unready")).flat(),
        metricsPages: () => peers.askAll("page"),
      },
    };
  }

  /** The app of this thread is made in `here`; the others make theirs at the same time. */
  async start(here: Promise<App>): Promise<App> {
    const [app] = await Promise.all([
      here.then((app) => this.#app = app),
      this.#peers?.askAll("start"),
    ]);
    return app;
  }

  /** How many there are, with the first one. */
  get count(): number {
    return this.#threads;
  }

  /** The others listen at the port of callers as well, where the platform shares ports. */
  async listen(open: readonly OpenPort[]): Promise<void> {
    await this.#peers?.askAll("listen", open);
  }

  /** Ends requests of callers, as `Listener.close` does. */
  async drain(drainMs: number): Promise<void> {
    this.#isEnding = true;
    await this.#peers?.askAll("drain", drainMs);
  }

  /** Closes what the others have open. */
  async close(): Promise<void> {
    await this.#peers?.askAll("close");
  }

  #countOf(layout: Layout): number {
    return threadsOf(layout, { threads: this.#options.config["threads"], machine: this.#machine });
  }

  #start(thread: number, ports: ReadonlyMap<number, ThreadPort>): void {
    const { entry, config, acceptLoss, log } = this.#options;
    const [threads, partitions] = [this.#threads, this.#partitions];
    const worker = new Worker(new URL(entry), {
      workerData: threadData({ thread, threads, partitions, config, acceptLoss, ports }),
      transferList: [...ports.values()] as never[],
    });
    worker.on("error", (cause) => this.#end(thread, log, cause));
    worker.on("exit", (code) => this.#end(thread, log, `exit code ${code}`));
  }

  /**
   * Its partitions would be away for good, and what it knew is lost: the next start reads all again. A
   * thread that fails says so twice, by its error and by its exit, of which the first tells why.
   */
  #end(thread: number, log: Log, cause: unknown): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const text = cause instanceof Error ? cause.stack : String(cause);
    log("error", "Ending because a thread has ended", { thread, cause: text });
    process.exit(BUG_CODE);
  }
}

type ThreadAppOptions = {
  readonly deployments: DeploymentStore;
  readonly introspection: Introspection;
  readonly here?: readonly number[];
  readonly remotePartition?: (partition: number) => PartitionClient;
  readonly otherThreads?: OtherThreads;
};

/** A channel between each two of so many threads: for each thread, its ports by the others' numbers. */
function mesh(threads: number): Map<number, ThreadPort>[] {
  const ports = Array.from({ length: threads }, () => new Map<number, ThreadPort>());
  for (const [one, mine] of ports.entries()) {
    for (let other = one + 1; other < threads; other++) {
      const { port1, port2 } = new MessageChannel();
      mine.set(other, port1 as never);
      ports[other]?.set(one, port2 as never);
    }
  }
  return ports;
}
