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

/** The partitions that this process serves, as `partition/hosts.ts` has them. */
export interface LocalHosts {
  has(partition: number): boolean;
  partitionClient(partition: number): PartitionClient;
  open(partitions: Iterable<number>): Promise<void>;
  leave(partition: number): void;
}

/** The registry of deployments, as this process knows it. */
export interface SharedRegistry {
  /** The version of the deployments that this process knows. */
  readonly version: number;
  /** Reads the deployments again. Resolves when their state at the time of the call is known. */
  reload(): Promise<void>;
}

export interface FleetOptions
  extends PeerTransport, Pick<EndpointOptions, "reader" | "bytesMax" | "flush" | "running"> {
  readonly partitions: number;
  readonly membership: Membership;
  readonly stopwatch: Stopwatch;
  readonly clock: Clock;
  readonly log: Log;
  /** Draws a member id that was never used. */
  readonly newId: () => string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** As in `MembershipAgentOptions`. */
  readonly joinMs?: number;
  /** How long a request waits for a partition that no member serves, in milliseconds. */
  readonly forwardMs: number;
  /** How long the check of this process's address is repeated, in milliseconds. 0: no check. */
  readonly addressCheckMs: number;
  readonly hosts: () => LocalHosts;
  /** Waits for the commits of a partition, and stops later writes. */
  readonly release: (partition: number) => Promise<void>;
  readonly registry: () => SharedRegistry;
}

/** One member of a fleet: its membership, the clients of all partitions, and its endpoint. */
export class Fleet {
  readonly directory: FleetDirectory;
  /** Serves requests of the other members. */
  readonly handler: (request: Request) => Promise<Response>;
  readonly #options: FleetOptions;
  readonly #instance: string;
  readonly #peers: Peers;
  #agent: MembershipAgent | undefined;
  /** Whether another member has the address of this one. */
  #isShared = false;
  /** Identifies the last opening of each partition. */
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
    const refresh = (): void => this.#agent?.refresh();
    this.directory = new FleetDirectory({
      ...options,
      local,
      transport: options,
      refresh,
      unreadyReason: () => this.unready()[0],
      timeoutMs: options.forwardMs,
    });
    this.handler = partitionEndpoint({
      ...options,
      partitionClient: local,
      owner: (partition) => this.directory.addressOf(partition),
      refresh,
      who: () => ({ instance: this.#instance, node: this.id }),
      reach: (address) => probe(address, options),
      reload: () => options.registry().reload(),
    });
  }

  /** The member id of this process. A claim succeeds only if `lease.owner` is this id. */
  get id(): string {
    return this.#agent?.id ?? "";
  }

  /** All members, this one included, as of the last heartbeat. */
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

  /** Whether the lease holds, so that no other member can own the partitions of this one. */
  isHeld(): boolean {
    return this.#agent?.isHeld() ?? false;
  }

  /** Why this member does not serve its partitions. Empty: it serves them. */
  unready(): readonly Unready[] {
    return this.#agent?.unready ?? [];
  }

  /** Stops serving a partition: another process has claimed it. */
  lost(partition: number): void {
    this.#options.hosts().leave(partition);
    this.#agent?.lost(partition);
  }

  /**
   * Joins the fleet. Other members reach this process at `address`. Resolves when it serves its share
   * of the partitions. Rejects when the database does not respond, and with `Failure` RT0030 or RT0031
   * when other members do not reach this process there.
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

  /** Releases all partitions and notifies the other members, which claim them. Rejects as membership. */
  async leave(): Promise<void> {
    try {
      await this.#agent?.leave();
    } finally {
      this.directory.close();
    }
  }

  /**
   * Makes all members read the deployments again. Resolves when each has done so or did not respond in
   * time: such a member sees the new version with its next heartbeat.
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

  /** Queries that see the commits of all members. They fail while a partition has no reachable owner. */
  introspecting(introspection: Introspection): Introspection {
    return fleetIntrospection(introspection, () => this.#flushOthers());
  }

  async #flushOthers(): Promise<readonly RunningAttempt[]> {
    const { nodes, owners } = this.#view;
    const ids = new Set(nodes.map(({ id }) => id));
    const orphan = owners.findIndex((owner) => owner === undefined || !ids.has(owner));
    if (orphan >= 0) throw unseen(`nobody has partition ${orphan} right now`);
    // A member without partitions has no rows to fold, so it need not be reachable.
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
      // A later call may have opened the partition again: then it is not this one's to leave.
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
      // A member that misses the notification reads the membership at its next heartbeat.
      if (id !== this.id) this.#postTo(`${address}/fleet/look`).catch(() => {});
    }
  }

  /** The response of another member. Rejects when it fails or does not come within half a lease. */
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
