import type { Unready } from "../model/readiness.ts";
import type { Clock, Log, Stopwatch } from "../ports.ts";
import { excluded } from "./exclude.ts";
import type { FleetView, Ledger } from "./membership.ts";
import { plan } from "./plan.ts";
import { Silences } from "./failure_detector.ts";
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

/** A fraction of the lease in which it is not relied on: clocks run at different pace. */
const MARGIN = 1 / 6;
/** Heartbeats that failed are repeated sooner than the next would be. */
const RETRIES = 8;

/**
 * What one process does in a fleet, with nobody but the database to tell it: says that it lives,
 * watches the others, takes and gives partitions so that everybody has as many (decision 032).
 *
 * Whoever is declared dead is struck off the list, which it notices before it can say again that it
 * lives; so between two heartbeats that succeeded, nothing was taken from it. It relies on what it
 * owns for a little less than the others wait before they strike it off, from the moment it *began*
 * to say that it lives; they count from when they saw it, by their own clocks.
 */
export class Steward {
  readonly #options: StewardOptions;
  readonly #silences: Silences;
  readonly #troubles: Troubles;
  #id = "";
  /** When the last heartbeat that succeeded began, by both clocks. */
  #renewed: { readonly at: number; readonly wall: number } | undefined;
  /** What is served, or about to be, each with what began it. */
  readonly #serving = new Map<number, Promise<void>>();
  /** What is about to be given away. */
  readonly #giving = new Set<number>();
  #round: Promise<void> | undefined;
  #isAgain = false;
  #isOver = false;
  #forgetRound: (() => void) | undefined;
  #forgetEnd: (() => void) | undefined;

  constructor(options: StewardOptions) {
    this.#options = options;
    this.#silences = new Silences(options);
    this.#troubles = new Troubles(options);
  }

  /** The name of this process since it joined last. */
  get id(): string {
    return this.#id;
  }

  /** Whether nobody else can have taken what is ours. */
  isHeld(): boolean {
    if (!this.#renewed) return false;
    const { clock, stopwatch, leaseMs } = this.#options;
    const { at, wall } = this.#renewed;
    // By both clocks, for one of them may stand still while a machine sleeps.
    const age = Math.max(stopwatch.now() - at, clock.now() - wall);
    return age < leaseMs * (1 - MARGIN);
  }

  /** What keeps this process from serving what is its own. */
  get unready(): readonly Unready[] {
    return this.#troubles.list(this.isHeld(), this.#renewed?.wall);
  }

  /**
   * Joins the fleet and takes a share of what nobody has. Resolves when that is served, or could not
   * be for now. Rejects when the database does not answer.
   */
  async join(): Promise<void> {
    await this.#enter(true);
    await this.#look();
    // Those who have too many give some back.
    this.#options.rouse();
    while (this.#isAgain) {
      this.#isAgain = false;
      await this.#look();
    }
    await Promise.all(this.#serving.values());
    this.#later(this.#options.heartbeatMs);
  }

  /** Looks at once: something has changed, or may have. */
  look(): void {
    if (this.#isOver || this.#id === "") return;
    this.#isAgain = true;
    if (!this.#round) this.#beginRound();
  }

  /** The partition does not serve any more: somebody has claimed it. */
  lost(partition: number): void {
    this.#serving.delete(partition);
    this.look();
  }

  /** Gives everything back and is no part of the fleet any more. Rejects as the ledger does. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#forgetRound?.();
    this.#forgetEnd?.();
    await this.#round;
    await Promise.all([...this.#serving.keys()].map((partition) => this.#close(partition)));
    this.#renewed = undefined;
    await this.#options.ledger.leave(this.#id);
    this.#options.rouse();
  }

  async #enter(takesPlace: boolean): Promise<void> {
    const { ledger, newId, address } = this.#options;
    const id = newId();
    await ledger.join({ id, address }, takesPlace);
    this.#id = id;
  }

  #later(ms: number): void {
    this.#forgetRound?.();
    if (!this.#isOver) {
      this.#forgetRound = this.#options.stopwatch.after(ms, () => this.#beginRound());
    }
  }

  #beginRound(): void {
    if (this.#round || this.#isOver) return;
    this.#isAgain = false;
    const { stopwatch, heartbeatMs, leaseMs, log } = this.#options;
    const began = stopwatch.now();
    this.#round = this.#look().then(() => {
      this.#troubles.heartbeat();
      return heartbeatMs - (stopwatch.now() - began);
    }, (cause) => {
      if (!this.#troubles.isCut) log("warn", "Cannot renew leases", { cause: String(cause) });
      this.#troubles.heartbeat(cause);
      return Math.min(heartbeatMs, leaseMs / RETRIES);
    }).then((ms) => {
      this.#round = undefined;
      this.#later(this.#isAgain && !this.#troubles.isCut ? 0 : Math.max(0, ms));
    });
  }

  async #look(): Promise<void> {
    const { ledger, stopwatch, clock, seen, unreached } = this.#options;
    const [at, wall] = [stopwatch.now(), clock.now()];
    const view = await ledger.beat(this.#id, unreached?.() ?? []);
    if (this.#isOver) return;
    if (!view.nodes.some(({ id }) => id === this.#id)) return await this.#beginAnew();
    this.#renew({ at, wall });
    const others = view.nodes.filter(({ id }) => id !== this.#id);
    const dead = this.#silences.heard(others, { began: at, ended: stopwatch.now() });
    for (const { id, beat } of dead) await this.#bury(id, beat);
    const nodes = view.nodes.filter((node) => !dead.includes(node));
    seen({ ...view, nodes });
    if (!this.#isOver) await this.#settle({ ...view, nodes });
  }

  #renew(renewed: { readonly at: number; readonly wall: number }): void {
    const { stopwatch, leaseMs } = this.#options;
    this.#renewed = renewed;
    this.#forgetEnd?.();
    const restMs = renewed.at + leaseMs - stopwatch.now();
    this.#forgetEnd = stopwatch.after(Math.max(0, restMs), () => this.#end());
  }

  /** The others may have taken everything by now. */
  #end(): void {
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
    this.#renewed = undefined;
    for (const partition of [...this.#serving.keys()]) void this.#close(partition);
    this.#silences.forget();
    await this.#enter(false);
    this.#isAgain = true;
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
    this.#isAgain = true;
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
