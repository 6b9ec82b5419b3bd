import { sqlMembership } from "../../src/placement/membership.ts";
import { MembershipAgent } from "../../src/placement/membership_agent.ts";
import type { SqlClient } from "../../src/ports.ts";
import type { VirtualTime } from "./_time.ts";

export const HEARTBEAT_MS = 1_000;
export const LEASE_MS = 6_000;
export const PARTITIONS = 7;
/** How long a request to the database may take. */
const TIMEOUT_MS = LEASE_MS / 3;

export interface ProcessOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly database: SqlClient;
  /** The processes to notify of a change. */
  readonly others: () => readonly Process[];
  readonly from?: number;
  readonly pace?: number;
  /** How long a partition takes to open. */
  readonly openMs?: number;
  /** How long requests are repeated while it joins. */
  readonly joinMs?: number;
  /** How long a request takes to the database, and an answer back. 2 when absent. */
  readonly wayMs?: () => number;
}

/** A process with a membership agent, that can be killed, frozen and cut off from the database. */
export class Process {
  readonly name: string;
  readonly agent: MembershipAgent;
  readonly serving = new Set<number>();
  /** What it has served and does not, or did not for a while. */
  readonly closed: number[] = [];
  readonly logs: string[] = [];
  isAlive = true;
  /** Time of the last response of the database. */
  seenAt = 0;
  isCut = false;
  /** What the wall clock shows more than it should. */
  wallMs = 0;
  #isFrozen = false;
  #late: (() => void)[] = [];
  readonly #opening = new Map<number, symbol>();
  #joins = 0;
  readonly #options: ProcessOptions;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    const { time, from = 0, pace = 1 } = options;
    const stopwatch = time.stopwatch({ from, pace });
    this.agent = new MembershipAgent({
      address: `http://${this.name}`,
      membership: sqlMembership(this.#database(), PARTITIONS),
      newId: () => `${this.name}-${this.#joins++}`,
      stopwatch: { now: stopwatch.now, after: (ms, call) => stopwatch.after(ms, this.#mine(call)) },
      clock: { now: () => time.now + this.wallMs },
      log: (level, message) => this.logs.push(`${level} ${message}`),
      heartbeatMs: HEARTBEAT_MS,
      leaseMs: LEASE_MS,
      ...(options.joinMs !== undefined && { joinMs: options.joinMs }),
      open: (partition) => this.#open(partition),
      close: (partition) => {
        this.#opening.delete(partition);
        if (this.serving.delete(partition)) this.closed.push(partition);
        return Promise.resolve();
      },
      seen: () => this.seenAt = time.now,
      notifyOthers: () => {
        for (const other of options.others()) {
          if (other !== this) time.after(1, other.#mine(() => other.agent.refresh()));
        }
      },
    });
  }

  /** What it would answer for at this moment, if it were asked. */
  get held(): number[] {
    return this.isAlive && this.agent.isHeld() ? [...this.serving] : [];
  }

  kill(): void {
    this.isAlive = false;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const call of this.#late.splice(0)) call();
  }

  /** Calls back unless it is dead, and not while it is frozen. */
  #mine(call: () => void): () => void {
    return () => {
      if (!this.isAlive) return;
      if (this.#isFrozen) this.#late.push(call);
      else call();
    };
  }

  async #open(partition: number): Promise<void> {
    const { time, openMs = 0 } = this.#options;
    const opening = Symbol();
    this.#opening.set(partition, opening);
    const { id } = this.agent;
    await new Promise<void>((resolve) => time.after(openMs, this.#mine(resolve)));
    // As a store would, which claims only what is ours.
    const [[row] = []] = await this.#database().batch("read", [{
      sql: "select owner from lease where partition = ?1",
      args: [partition],
    }]);
    if (row?.["owner"] !== id || this.agent.id !== id) throw new Error("fenced");
    // As a host, which begins no life when it was closed meanwhile.
    if (this.#opening.get(partition) === opening) this.serving.add(partition);
  }

  /** Loses requests of this process, and delays responses. */
  #database(): SqlClient {
    const { time, database, wayMs = () => 2 } = this.#options;
    return {
      ...database,
      batch: (mode, statements) =>
        new Promise((resolve, reject) => {
          const answer = (call: () => void) => time.after(wayMs(), this.#mine(call));
          time.after(TIMEOUT_MS, this.#mine(() => reject(new Error("no answer in time"))));
          time.after(wayMs(), () => {
            if (this.isCut) return;
            database.batch(mode, statements).then(
              (rows) => answer(() => this.isCut || resolve(rows)),
              (cause) => answer(() => reject(cause)),
            );
          });
        }),
    };
  }
}
