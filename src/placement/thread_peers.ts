import { Failure, Untaken } from "../errors.ts";
import type { Log, OnLeave, PartitionClient } from "../ports.ts";
import { AskingClient } from "./asking_client.ts";
import { askPartition, isPartitionMethod } from "./partition_methods.ts";
import { PortRpc, type PortRpcOptions, type RpcPort } from "./port_rpc.ts";

/** What a thread does for the others, by name, beside what they ask of its partitions. */
export type ThreadMethods = Readonly<Record<string, (argument: never) => unknown>>;

/** A port as both runtimes have it: that of the web. Node's own interface is missing on Deno. */
export interface ThreadPort extends RpcPort {
  onmessage: ((event: { readonly data: Uint8Array }) => void) | null;
}

export interface ThreadPeersOptions {
  /** The ports to the others, by their numbers: the first one, 0, has the folder and the admin interface. */
  readonly ports: ReadonlyMap<number, ThreadPort>;
  readonly methods: ThreadMethods;
  /** The client of a partition here. Undefined: this thread is starting. */
  readonly partitionClient: (partition: number) => PartitionClient | undefined;
  readonly soon: PortRpcOptions["soon"];
  readonly log: Log;
}

/** The thread of a partition. They are dealt out in turn, so that threads have equally many. */
export function threadOf(partition: number, threads: number): number {
  return partition % threads;
}

/** The partitions of a thread. */
export function partitionsOf(
  thread: number,
  { threads, partitions }: { readonly threads: number; readonly partitions: number },
): number[] {
  return [...Array(partitions).keys()].filter((one) => threadOf(one, threads) === thread);
}

/** The other threads of the process, as one of them sees them. */
export class ThreadPeers {
  readonly #rpcs = new Map<number, PortRpc>();
  readonly #options: ThreadPeersOptions;
  readonly #clients = new Map<number, PartitionClient>();

  constructor(options: ThreadPeersOptions) {
    this.#options = options;
    for (const [thread, port] of options.ports) {
      const rpc = new PortRpc({
        port,
        serve: (method, args, onLeave) => this.#serve(method, args, onLeave),
        soon: options.soon,
        log: options.log,
      });
      this.#rpcs.set(thread, rpc);
      port.onmessage = ({ data }) => rpc.receive(data);
    }
  }

  /** Asks one of the others. Rejects as `PortRpc.ask` does. */
  ask<T>(thread: number, method: string, ...args: readonly unknown[]): Promise<T> {
    const rpc = this.#rpcs.get(thread);
    if (!rpc) return Promise.reject(Failure.plain(500, "there is no such thread"));
    return rpc.ask<T>(method, args);
  }

  /** Asks all others. */
  askAll<T>(method: string, ...args: readonly unknown[]): Promise<readonly T[]> {
    return Promise.all([...this.#rpcs.values()].map((rpc) => rpc.ask<T>(method, args)));
  }

  /** The client of a partition that another thread serves. */
  partitionClient(partition: number): PartitionClient {
    const known = this.#clients.get(partition);
    if (known) return known;
    const rpc = this.#rpcs.get(threadOf(partition, this.#rpcs.size + 1));
    if (!rpc) throw Failure.plain(503, "the partition is not here");
    const client = new ThreadPartitionClient(rpc, partition);
    this.#clients.set(partition, client);
    return client;
  }

  async #serve(
    method: string,
    [first, ...args]: readonly unknown[],
    onLeave: OnLeave,
  ): Promise<unknown> {
    const { methods, partitionClient } = this.#options;
    if (!isPartitionMethod(method)) return await methods[method]?.(first as never);
    const client = partitionClient(Number(first));
    if (!client) throw new Untaken("the thread of the partition is starting");
    return await askPartition(client, method, { args, onLeave });
  }
}

class ThreadPartitionClient extends AskingClient {
  readonly #rpc: PortRpc;
  readonly #partition: number;

  constructor(rpc: PortRpc, partition: number) {
    super();
    this.#rpc = rpc;
    this.#partition = partition;
  }

  protected override ask<T>(
    method: keyof PartitionClient,
    args: readonly unknown[],
    onLeave?: OnLeave,
  ): Promise<T> {
    return this.#rpc.ask(method, [this.#partition, ...args], onLeave);
  }
}
