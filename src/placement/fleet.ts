import { Failure } from "../errors.ts";
import type { Member } from "../model/member.ts";
import type { Unready } from "../model/readiness.ts";
import type { Clock, Log, PartitionClient, Stopwatch } from "../ports.ts";
import type { Introspection, RunningAttempt } from "../query_port.ts";
import type { PeerResponse } from "./peer_response.ts";
import { checkJoin } from "./join_check.ts";
import { unpack } from "./codec.ts";
import { type EndpointOptions, partitionEndpoint } from "./partition_endpoint.ts";
import { fleetIntrospection } from "./fleet_introspection.ts";
import { FleetDirectory } from "./fleet_directory.ts";
import type { FleetView, Membership } from "./membership.ts";
import { Peers } from "./peers.ts";
import type { PeerTransport } from "./partition_client.ts";
import { MembershipAgent } from "./membership_agent.ts";
import { postTo, probe } from "./identity_probe.ts";

/** The partitions that live in this process, as `partition/hosts.ts` has them. */
export interface LocalHosts {
  has(partition: number): boolean;
  partitionClient(partition: number): PartitionClient;
  open(partitions: Iterable<number>): Promise<void>;
  leave(partition: number): void;
}

/** What is registered, as this process knows it. */
export interface SharedRegistry {
  /** Which state of it is known. */
  readonly version: number;
  /** Resolves when at least the state is known that there was when it was called. */
  reload(): Promise<void>;
}

export interface FleetOptions
  extends PeerTransport, Pick<EndpointOptions, "reader" | "bytesMax" | "flush" | "running"> {
  readonly partitions: number;
  readonly membership: Membership;
  readonly stopwatch: Stopwatch;
  readonly clock: Clock;
  readonly log: Log;
  /** Draws a name that nobody else has, or had. */
  readonly newId: () => string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** How long a request looks for a partition that nobody has. */
  readonly forwardMs: number;
  /** How long an address that does not lead to this process is tried. 0: it is not checked. */
  readonly addressCheckMs: number;
  readonly hosts: () => LocalHosts;
  /** Lets what was committed to a partition be written, and nothing more. */
  readonly release: (partition: number) => Promise<void>;
  readonly registry: () => SharedRegistry;
}

/** One process of a fleet: what it has, where the rest is, and what it answers to the others. */
export class Fleet {
  readonly directory: FleetDirectory;
  /** Answers the other processes. */
  readonly handler: (request: Request) => Promise<Response>;
  readonly #options: FleetOptions;
  readonly #instance: string;
  readonly #peers: Peers;
  #agent: MembershipAgent | undefined;
  /** Whether another process has our address. */
  #isShared = false;
  /** What opened each partition last. */
  readonly #openings = new Map<number, symbol>();
  #view: FleetView = { nodes: [], owners: [], registry: 0 };

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#instance = options.newId();
    this.#peers = new Peers(options);
    const local = (partition: number): PartitionClient | undefined => {
      const hosts = options.hosts();
      return hosts.has(partition) ? hosts.partitionClient(partition) : undefined;
    };
    const look = (): void => this.#agent?.look();
    this.directory = new FleetDirectory({
      ...options,
      local,
      transport: options,
      look,
      unreadyReason: () => this.unready()[0],
      timeoutMs: options.forwardMs,
    });
    this.handler = partitionEndpoint({
      ...options,
      partitionClient: local,
      owner: (partition) => this.directory.addressOf(partition),
      look,
      who: () => ({ instance: this.#instance, node: this.id }),
      reach: (address) => probe(address, options),
      reload: () => options.registry().reload(),
    });
  }

  /** The name of this process, which it shows the database when it claims what it owns. */
  get id(): string {
    return this.#agent?.id ?? "";
  }

  /** All processes, this one included, as of the last heartbeat. */
  members(): readonly Member[] {
    const unreachedPeers = new Map(this.#peers.unreachedPeers.map((one) => [one.id, one]));
    const { nodes, owners } = this.#view;
    return nodes.map(({ id, address }) => {
      const { cause, since } = unreachedPeers.get(id) ?? {};
      const partitions = owners.flatMap((owner, partition) => owner === id ? [partition] : []);
      const member = { id, address, partitions };
      return cause === undefined || since === undefined
        ? member
        : { ...member, unreached: { cause, since } };
    });
  }

  /** Whether nobody else can have taken what is ours. */
  isHeld(): boolean {
    return this.#agent?.isHeld() ?? false;
  }

  /** What keeps this process from serving what is its own. */
  unready(): readonly Unready[] {
    return this.#agent?.unready ?? [];
  }

  /** A partition does not live here any more: somebody else has claimed it. */
  lost(partition: number): void {
    this.#options.hosts().leave(partition);
    this.#agent?.lost(partition);
  }

  /**
   * Becomes a part of the fleet. The others reach this process at `address`. Resolves when it serves
   * its share. Rejects when the database does not answer, and with `Failure` RT0030 or RT0031 when
   * the others do not reach this process there.
   */
  async join(address: string): Promise<void> {
    const { hosts, membership, addressCheckMs: timeoutMs } = this.#options;
    const joinCheck = { ...this.#options, address, instance: this.#instance, timeoutMs };
    if (timeoutMs > 0) await checkJoin({ ...joinCheck, peers: () => membership.nodes() });
    const agent = this.#agent = new MembershipAgent({
      ...this.#options,
      address,
      open: (partition) => this.#open(partition),
      close: async (partition) => {
        hosts().leave(partition);
        await this.#options.release(partition).catch((cause) => {
          this.#options.log("warn", "A lease is let go late", { partition, cause: String(cause) });
        });
      },
      seen: (view) => this.#seen(view, agent.id),
      unreached: () => this.#peers.unreached,
      notifyOthers: () => this.#notifyOthers(),
    });
    await agent.join();
    const registry = this.#options.registry();
    if (this.#view.registry !== registry.version) await registry.reload();
  }

  /** Gives back what it has; the others are told to take it. Rejects as membership does. */
  async leave(): Promise<void> {
    try {
      await this.#agent?.leave();
    } finally {
      this.directory.close();
    }
  }

  /**
   * Has everybody who lives read again what is registered. Resolves when they have, or did not answer
   * in time: then they notice with their next heartbeat.
   */
  async announce(): Promise<void> {
    const { membership, log } = this.#options;
    const nodes = await membership.nodes().catch(() => this.#view.nodes);
    const others = nodes.filter(({ id }) => id !== this.id);
    await Promise.all(others.map(async ({ address }) => {
      const cause = await this.#postTo(`${address}/registry/reload`).then(() => {}, String);
      if (cause === undefined) return;
      log("warn", "Another process did not hear of a deployment at once", { address, cause });
    }));
  }

  /** Queries that see what all processes have committed. They are refused while one is missing. */
  introspecting(introspection: Introspection): Introspection {
    return fleetIntrospection(introspection, () => this.#flushOthers());
  }

  async #flushOthers(): Promise<readonly RunningAttempt[]> {
    const { nodes, owners } = this.#view;
    const ids = new Set(nodes.map(({ id }) => id));
    const orphan = owners.findIndex((owner) => owner === undefined || !ids.has(owner));
    if (orphan >= 0) throw unseen(`nobody has partition ${orphan} right now`);
    // One that has no partitions has nothing to bring: it may be out of reach.
    const others = nodes.filter(({ id }) => id !== this.id && owners.includes(id));
    const all = await Promise.all(others.map(({ address }) => (
      this.#postTo(`${address}/fleet/flush`).catch((cause) => {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw unseen(`the process of the fleet at ${address} does not answer: ${why}`, cause);
      })
    )));
    return all.flat() as RunningAttempt[];
  }

  async #open(partition: number): Promise<void> {
    const hosts = this.#options.hosts();
    const opening = Symbol();
    this.#openings.set(partition, opening);
    hosts.leave(partition);
    try {
      await hosts.open([partition]);
    } catch (cause) {
      // It may have been left, and opened again, meanwhile.
      if (this.#openings.get(partition) === opening) hosts.leave(partition);
      throw cause;
    }
  }

  #seen(view: FleetView, me: string): void {
    const { log, registry } = this.#options;
    this.#view = view;
    this.directory.seen(view, me);
    this.#peers.seen(view.nodes.filter(({ id }) => id !== me));
    const address = view.nodes.find(({ id }) => id === me)?.address;
    const isShared = view.nodes.filter((node) => node.address === address).length > 1;
    if (isShared && !this.#isShared) {
      log("error", "Two processes of the fleet have the same address", { address });
    }
    this.#isShared = isShared;
    if (view.registry === registry().version) return;
    registry().reload().catch((cause) => {
      log("warn", "Cannot read again what is registered", { cause: String(cause) });
    });
  }

  #notifyOthers(): void {
    for (const { id, address } of this.#view.nodes) {
      // Whoever does not hear it looks by itself soon.
      if (id !== this.id) this.#postTo(`${address}/fleet/look`).catch(() => {});
    }
  }

  /** What another process has to say. Rejects when it says nothing in time, or cannot. */
  async #postTo(url: string): Promise<unknown> {
    const { status, body } = await postTo(url, this.#options, {
      timeoutMs: this.#options.leaseMs / 2,
    });
    if (status !== 200) throw new Error(`it answered ${status}`);
    return (unpack(body) as PeerResponse).value;
  }
}

function unseen(why: string, cause?: unknown): Failure {
  return Failure.plain(503, `Cannot run the query: ${why}`, { cause });
}
