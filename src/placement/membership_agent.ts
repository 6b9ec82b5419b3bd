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
  /** Where the others reach this process. */
  readonly address: string;
  readonly membership: Membership;
  /** Draws a name that nobody else has, or had. */
  readonly newId: () => string;
  readonly stopwatch: Stopwatch;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** How often this process says that it lives, and looks at the others. */
  readonly heartbeatMs: number;
  /** How long a process that says nothing is thought to live. */
  readonly leaseMs: number;
  /** Begins to serve a partition that is ours. When it rejects, it is tried again. */
  readonly open: (partition: number) => Promise<void>;
  /** Serves it no more, from now on. Resolves when nothing of it is written any more. */
  readonly close: (partition: number) => Promise<void>;
  /** Hears what the database says of those who live. */
  readonly seen: (view: FleetView) => void;
  /** Which others cannot be reached, by id. Absent: that is not known. */
  readonly unreached?: () => readonly string[];
  /** Has the others look at once. */
  readonly notifyOthers: () => void;
}

/**
 * What one process does in a fleet, with nobody but the database to tell it: says that it lives,
 * watches the others, takes and gives partitions so that everybody has as many (decision 032).
 *
 * Whoever is declared dead is struck off the list, which it notices before it can say again that it
 * lives; so between two heartbeats that succeeded, nothing was taken from it. `Lease` says how long it
 * may rely on that, `Heartbeat` when it says that it lives.
 */
export class MembershipAgent {
  readonly #options: MembershipAgentOptions;
  readonly #failureDetector: FailureDetector;
  readonly #readiness: MemberReadiness;
  readonly #lease: Lease;
  readonly #heartbeat: Heartbeat;
  #id = "";
  /** What is served, or about to be, each with what began it. */
  readonly #serving = new Map<number, Promise<void>>();
  /** What is about to be given away. */
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

  /** The name of this process since it joined last. */
  get id(): string {
    return this.#id;
  }

  /** Whether nobody else can have taken what is ours. */
  isHeld(): boolean {
    return this.#lease.isHeld();
  }

  /** What keeps this process from serving what is its own. */
  get unready(): readonly Unready[] {
    return this.#readiness.list(this.isHeld(), this.#lease.renewedAt);
  }

  /**
   * Joins the fleet and takes a share of what nobody has. Resolves when that is served, or could not
   * be for now. Rejects when the database does not answer.
   */
  async join(): Promise<void> {
    await this.#enter(true);
    await this.#heartbeat.once();
    // Those who have too many give some back.
    this.#options.notifyOthers();
    while (this.#heartbeat.isAsked) await this.#heartbeat.once();
    await Promise.all(this.#serving.values());
    this.#heartbeat.start();
  }

  /** Looks at once: something has changed, or may have. */
  look(): void {
    if (this.#id !== "") this.#heartbeat.soon();
  }

  /** The partition does not serve any more: somebody has claimed it. */
  lost(partition: number): void {
    this.#serving.delete(partition);
    this.look();
  }

  /** Gives everything back and is no part of the fleet any more. Rejects as membership does. */
  async leave(): Promise<void> {
    this.#lease.ignoreEnd();
    await this.#heartbeat.stop();
    await Promise.all([...this.#serving.keys()].map((partition) => this.#close(partition)));
    this.#lease.drop();
    await this.#options.membership.leave(this.#id);
    this.#options.notifyOthers();
  }

  async #enter(replacesAddress: boolean): Promise<void> {
    const { membership, newId, address } = this.#options;
    const id = newId();
    await membership.join({ id, address }, replacesAddress);
    this.#id = id;
  }

  #noteHeartbeat(cause?: unknown): void {
    if (cause !== undefined && !this.#readiness.isHeartbeatFailing) {
      this.#options.log("warn", "Cannot renew leases", { cause: String(cause) });
    }
    this.#readiness.heartbeat(cause);
  }

  /** Says that this process lives, looks at the others, takes and gives. */
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

  /** The others may have taken everything by now. */
  #leaseEnded(): void {
    if (this.#serving.size === 0) return;
    const { log, leaseMs } = this.#options;
    log("warn", "Leases ran out: partitions are not served for now", {
      partitions: [...this.#serving.keys()],
      leaseMs,
    });
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
  }

  /** We were struck off: whatever was ours may be somebody else's. */
  async #rejoin(): Promise<void> {
    this.#options.log("warn", "Taken for dead by another process, begins anew", { id: this.#id });
    this.#lease.drop();
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
    this.#failureDetector.forget();
    await this.#enter(false);
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
    // Others may have been quicker: what was taken is seen by looking.
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

  /** However often we look, what could not be served is tried again once a heartbeat. */
  #isBackingOff(partition: number): boolean {
    return this.#readiness.sinceFailed(partition) < this.#options.heartbeatMs;
  }

  /** Others have too few. Whatever goes wrong, the next round decides again. */
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
