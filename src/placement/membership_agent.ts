import type { Unready } from "../model/readiness.ts";
import type { Clock, Log, Stopwatch } from "../ports.ts";
import { excluded } from "./exclude.ts";
import { FailureDetector } from "./failure_detector.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Lease } from "./lease.ts";
import type { FleetView, Membership } from "./membership.ts";
import { plan } from "./plan.ts";
import { MemberReadiness } from "./readiness.ts";

export interface MembershipAgentOptions {
  /** Where other members reach this process. */
  readonly address: string;
  readonly membership: Membership;
  /** Draws a member id that was never used. */
  readonly newId: () => string;
  readonly stopwatch: Stopwatch;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Interval of heartbeats, each of which also reads the membership, in milliseconds. */
  readonly heartbeatMs: number;
  /** How long a member without a heartbeat counts as alive, in milliseconds. */
  readonly leaseMs: number;
  /**
   * How long a request is repeated that the database does not answer while this process joins, in
   * milliseconds. Absent: never.
   */
  readonly joinMs?: number;
  /** Begins to serve a partition of this member. When it rejects, it is called again later. */
  readonly open: (partition: number) => Promise<void>;
  /** Stops serving a partition at once. Resolves when its last write has ended. */
  readonly close: (partition: number) => Promise<void>;
  /** Called with the state of the fleet after each heartbeat, without dead members. */
  readonly seen: (view: FleetView) => void;
  /** Ids of the members that this one cannot reach. Absent: unknown. */
  readonly unreached?: () => readonly string[];
  /** Asks the other members to read the membership at once. */
  readonly notifyOthers: () => void;
}

/**
 * The part of a process that takes part in the membership of a fleet, by the database alone: it sends
 * heartbeats, detects failures, and claims and releases partitions, so that all members have equally
 * many (decision 032).
 *
 * A dead member is evicted, and its next heartbeat then fails to find it. So between two heartbeats
 * that succeeded it lost no partition. `Lease` limits how long it may rely on that; `Heartbeat`
 * schedules the heartbeats.
 */
export class MembershipAgent {
  readonly #options: MembershipAgentOptions;
  readonly #failureDetector: FailureDetector;
  readonly #readiness: MemberReadiness;
  readonly #lease: Lease;
  readonly #heartbeat: Heartbeat;
  #id = "";
  /** Partitions that are served or are being opened, each with its opening. */
  readonly #serving = new Map<number, Promise<void>>();
  /** Partitions that are being released. */
  readonly #giving = new Set<number>();

  constructor(options: MembershipAgentOptions) {
    this.#options = options;
    this.#failureDetector = new FailureDetector(options);
    this.#readiness = new MemberReadiness(options);
    this.#lease = new Lease({ ...options, ended: () => this.#leaseEnded() });
    this.#heartbeat = new Heartbeat({
      ...options,
      beat: () => this.#beat(),
      done: (cause) => this.#noteHeartbeat(cause),
    });
  }

  /** The member id of this process since its last join. */
  get id(): string {
    return this.#id;
  }

  /** Whether the lease holds, so that no other member can own the partitions of this one. */
  isHeld(): boolean {
    return this.#lease.isHeld();
  }

  /** Why this member does not serve its partitions. Empty: it serves them. */
  get unready(): readonly Unready[] {
    return this.#readiness.list(this.isHeld(), this.#lease.renewedAt);
  }

  /**
   * Joins the fleet and claims a share of the partitions without an owner. Resolves when each of them is
   * served or has failed to open. Rejects when the database does not respond.
   */
  async join(): Promise<void> {
    const { newId, notifyOthers } = this.#options;
    const id = newId();
    await this.#repeat(() => this.#enter(id, true));
    await this.#repeat(() => this.#heartbeat.once());
    // Members with too many partitions release some.
    notifyOthers();
    while (this.#heartbeat.isAsked) await this.#repeat(() => this.#heartbeat.once());
    // Partitions may take longer to open than a lease lasts.
    this.#heartbeat.start();
    await Promise.all(this.#serving.values());
  }

  /** Repeats what the database does not answer, for `joinMs`. */
  async #repeat(act: () => Promise<void>): Promise<void> {
    const { stopwatch, joinMs = 0, heartbeatMs, log } = this.#options;
    const began = stopwatch.now();
    for (let isLogged = false;; isLogged = true) {
      try {
        return await act();
      } catch (cause) {
        if (stopwatch.now() - began >= joinMs) throw cause;
        if (!isLogged) log("warn", "Waiting to join the fleet", { cause: String(cause), joinMs });
        await new Promise<void>((resolve) => stopwatch.after(heartbeatMs, resolve));
      }
    }
  }

  /** Begins a heartbeat at once, because the fleet may have changed. */
  refresh(): void {
    if (this.#id !== "") this.#heartbeat.soon();
  }

  /** A partition is not served any more: another process has claimed it. */
  lost(partition: number): void {
    this.#serving.delete(partition);
    this.refresh();
  }

  /** Releases all partitions and leaves the fleet. Rejects as membership does. */
  async leave(): Promise<void> {
    this.#lease.ignoreEnd();
    await this.#heartbeat.stop();
    await Promise.all([...this.#serving.keys()].map((partition) => this.#close(partition)));
    this.#lease.drop();
    await this.#options.membership.leave(this.#id);
    this.#options.notifyOthers();
  }

  async #enter(id: string, replacesAddress: boolean): Promise<void> {
    const { membership, address } = this.#options;
    await membership.join({ id, address }, replacesAddress);
    this.#id = id;
  }

  #noteHeartbeat(cause?: unknown): void {
    if (cause !== undefined && !this.#readiness.isHeartbeatFailing) {
      this.#options.log("warn", "Cannot renew leases", { cause: String(cause) });
    }
    this.#readiness.heartbeat(cause);
  }

  /** One heartbeat: renews the lease, evicts dead members, claims and releases partitions. */
  async #beat(): Promise<void> {
    const { membership, stopwatch, seen, unreached } = this.#options;
    const began = this.#lease.now();
    const view = await membership.beat(this.#id, unreached?.() ?? []);
    if (this.#heartbeat.isOver) return;
    if (!view.nodes.some(({ id }) => id === this.#id)) return await this.#rejoin();
    this.#lease.renew(began);
    const others = view.nodes.filter(({ id }) => id !== this.#id);
    const dead = this.#failureDetector.observe(others, { began: began.at, ended: stopwatch.now() });
    for (const { id, beat } of dead) await this.#evict(id, beat);
    const nodes = view.nodes.filter((node) => !dead.includes(node));
    seen({ ...view, nodes });
    if (!this.#heartbeat.isOver) await this.#rebalance({ ...view, nodes });
  }

  /** Other members may own all partitions by now. */
  #leaseEnded(): void {
    if (this.#serving.size === 0) return;
    const { log, leaseMs } = this.#options;
    log("warn", "Leases ran out: partitions are not served for now", {
      partitions: [...this.#serving.keys()],
      leaseMs,
    });
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
  }

  /** This member was evicted: other members may own its partitions. Joins again under a new id. */
  async #rejoin(): Promise<void> {
    this.#options.log("warn", "Taken for dead by another process, begins anew", { id: this.#id });
    this.#lease.drop();
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
    this.#failureDetector.forget();
    await this.#enter(this.#options.newId(), false);
    this.#heartbeat.ask();
  }

  async #evict(id: string, beat: number): Promise<void> {
    const { log, membership, leaseMs } = this.#options;
    log("warn", "Another process is taken for dead", { id, leaseMs });
    await membership.evict(id, beat);
  }

  async #rebalance({ nodes, owners }: FleetView): Promise<void> {
    const me = this.#id;
    for (const partition of [...this.#serving.keys()]) {
      if (owners[partition] !== me) void this.#close(partition);
    }
    this.#readiness.owned((partition) => owners[partition] === me);
    const out = excluded(nodes, owners);
    this.#noteExcluded(out.has(me));
    const { claim, release } = plan({
      me,
      nodes: nodes.map(({ id }) => id),
      owners,
      excluded: out,
    });
    for (const partition of release) this.#give(partition);
    for (const [partition, owner] of owners.entries()) {
      const isServed = this.#serving.has(partition) || this.#giving.has(partition);
      if (owner === me && !isServed && !this.#isBackingOff(partition)) this.#serve(partition);
    }
    if (claim.length === 0) return;
    await this.#options.membership.take(claim, me);
    // Other members may have claimed them first: the next heartbeat shows the owners.
    this.#heartbeat.ask();
  }

  #noteExcluded(isExcluded: boolean): void {
    if (!this.#readiness.exclude(isExcluded)) return;
    const { log, address } = this.#options;
    if (!isExcluded) return log("info", "Takes its share of the partitions again", { address });
    log("error", "Has no partitions while it and others cannot reach each other", { address });
  }

  #serve(partition: number): void {
    const { open, log } = this.#options;
    const opening = open(partition).then(() => this.#readiness.served(partition), (cause) => {
      if (this.#serving.get(partition) !== opening) return;
      log("warn", "A partition cannot be served for now", { partition, cause: String(cause) });
      this.#serving.delete(partition);
      this.#readiness.failed(partition, cause);
    });
    this.#serving.set(partition, opening);
  }

  /** A partition that failed to open is opened again once per heartbeat interval at most. */
  #isBackingOff(partition: number): boolean {
    return this.#readiness.sinceFailed(partition) < this.#options.heartbeatMs;
  }

  /** Releases a partition for members that have too few. After a failure the next heartbeat retries. */
  #give(partition: number): void {
    if (this.#giving.has(partition)) return;
    this.#giving.add(partition);
    const { membership, notifyOthers, log } = this.#options;
    const id = this.#id;
    this.#close(partition).then(() => membership.give([partition], id)).then(
      notifyOthers,
      (cause) => {
        log("warn", "A partition cannot be given away", { partition, cause: String(cause) });
      },
    ).finally(() => this.#giving.delete(partition));
  }

  async #close(partition: number): Promise<void> {
    this.#serving.delete(partition);
    await this.#options.close(partition);
  }
}
