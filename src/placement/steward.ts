import type { Unready } from "../model/readiness.ts";
import type { Clock, Log, Stopwatch } from "../ports.ts";
import { excluded } from "./exclude.ts";
import { Silences } from "./failure_detector.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Lease } from "./lease.ts";
import type { FleetView, Ledger } from "./membership.ts";
import { plan } from "./plan.ts";
import { Troubles } from "./readiness.ts";

export interface StewardOptions {
  /** Where the others reach this process. */
  readonly address: string;
  readonly ledger: Ledger;
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
  readonly rouse: () => void;
}

/**
 * What one process does in a fleet, with nobody but the database to tell it: says that it lives,
 * watches the others, takes and gives partitions so that everybody has as many (decision 032).
 *
 * Whoever is declared dead is struck off the list, which it notices before it can say again that it
 * lives; so between two heartbeats that succeeded, nothing was taken from it. `Lease` says how long it
 * may rely on that, `Heartbeat` when it says that it lives.
 */
export class Steward {
  readonly #options: StewardOptions;
  readonly #silences: Silences;
  readonly #troubles: Troubles;
  readonly #lease: Lease;
  readonly #heartbeat: Heartbeat;
  #id = "";
  /** What is served, or about to be, each with what began it. */
  readonly #serving = new Map<number, Promise<void>>();
  /** What is about to be given away. */
  readonly #giving = new Set<number>();

  constructor(options: StewardOptions) {
    this.#options = options;
    this.#silences = new Silences(options);
    this.#troubles = new Troubles(options);
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
    return this.#troubles.list(this.isHeld(), this.#lease.renewedAt);
  }

  /**
   * Joins the fleet and takes a share of what nobody has. Resolves when that is served, or could not
   * be for now. Rejects when the database does not answer.
   */
  async join(): Promise<void> {
    await this.#enter(true);
    await this.#heartbeat.once();
    // Those who have too many give some back.
    this.#options.rouse();
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

  /** Gives everything back and is no part of the fleet any more. Rejects as the ledger does. */
  async leave(): Promise<void> {
    this.#lease.ignoreEnd();
    await this.#heartbeat.stop();
    await Promise.all([...this.#serving.keys()].map((partition) => this.#close(partition)));
    this.#lease.drop();
    await this.#options.ledger.leave(this.#id);
    this.#options.rouse();
  }

  async #enter(takesPlace: boolean): Promise<void> {
    const { ledger, newId, address } = this.#options;
    const id = newId();
    await ledger.join({ id, address }, takesPlace);
    this.#id = id;
  }

  #noteHeartbeat(cause?: unknown): void {
    if (cause !== undefined && !this.#troubles.isCut) {
      this.#options.log("warn", "Cannot renew leases", { cause: String(cause) });
    }
    this.#troubles.heartbeat(cause);
  }

  /** Says that this process lives, looks at the others, takes and gives. */
  async #beat(): Promise<void> {
    const { ledger, stopwatch, seen, unreached } = this.#options;
    const began = this.#lease.now();
    const view = await ledger.beat(this.#id, unreached?.() ?? []);
    if (this.#heartbeat.isOver) return;
    if (!view.nodes.some(({ id }) => id === this.#id)) return await this.#beginAnew();
    this.#lease.renew(began);
    const others = view.nodes.filter(({ id }) => id !== this.#id);
    const dead = this.#silences.heard(others, { began: began.at, ended: stopwatch.now() });
    for (const { id, beat } of dead) await this.#bury(id, beat);
    const nodes = view.nodes.filter((node) => !dead.includes(node));
    seen({ ...view, nodes });
    if (!this.#heartbeat.isOver) await this.#settle({ ...view, nodes });
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
  async #beginAnew(): Promise<void> {
    this.#options.log("warn", "Taken for dead by another process, begins anew", { id: this.#id });
    this.#lease.drop();
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
    this.#silences.forget();
    await this.#enter(false);
    this.#heartbeat.ask();
  }

  async #bury(id: string, beat: number): Promise<void> {
    const { log, ledger, leaseMs } = this.#options;
    log("warn", "Another process is taken for dead", { id, leaseMs });
    await ledger.bury(id, beat);
  }

  async #settle({ nodes, owners }: FleetView): Promise<void> {
    const me = this.#id;
    for (const partition of [...this.#serving.keys()]) {
      if (owners[partition] !== me) void this.#close(partition);
    }
    this.#troubles.owned((partition) => owners[partition] === me);
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
      if (owner === me && !isServed && !this.#isResting(partition)) this.#serve(partition);
    }
    if (claim.length === 0) return;
    await this.#options.ledger.take(claim, me);
    // Others may have been quicker: what was taken is seen by looking.
    this.#heartbeat.ask();
  }

  #noteExcluded(isExcluded: boolean): void {
    if (!this.#troubles.exclude(isExcluded)) return;
    const { log, address } = this.#options;
    if (!isExcluded) return log("info", "Takes its share of the partitions again", { address });
    log("error", "Has no partitions while it and others cannot reach each other", { address });
  }

  #serve(partition: number): void {
    const { open, log } = this.#options;
    const opening = open(partition).then(() => this.#troubles.served(partition), (cause) => {
      if (this.#serving.get(partition) !== opening) return;
      log("warn", "A partition cannot be served for now", { partition, cause: String(cause) });
      this.#serving.delete(partition);
      this.#troubles.failed(partition, cause);
    });
    this.#serving.set(partition, opening);
  }

  /** However often we look, what could not be served is tried again once a heartbeat. */
  #isResting(partition: number): boolean {
    return this.#troubles.sinceFailed(partition) < this.#options.heartbeatMs;
  }

  /** Others have too few. Whatever goes wrong, the next round decides again. */
  #give(partition: number): void {
    if (this.#giving.has(partition)) return;
    this.#giving.add(partition);
    const { ledger, rouse, log } = this.#options;
    const id = this.#id;
    this.#close(partition).then(() => ledger.give([partition], id)).then(rouse, (cause) => {
      log("warn", "A partition cannot be given away", { partition, cause: String(cause) });
    }).finally(() => this.#giving.delete(partition));
  }

  async #close(partition: number): Promise<void> {
    this.#serving.delete(partition);
    await this.#options.close(partition);
  }
}
