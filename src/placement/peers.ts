import type { Log } from "../ports.ts";
import type { FleetMember } from "./membership.ts";
import {
  probe,
  PROBE_TIMEOUT_MS,
  type ProbeResult,
  type TimedPeerTransport,
} from "./identity_probe.ts";

export interface PeersOptions extends TimedPeerTransport {
  readonly log: Log;
  readonly clock: { now(): number };
  readonly heartbeatMs: number;
  readonly leaseMs: number;
}

/** Failed probes of a member before this process reports it to the others. */
const FAILURES_MIN = 3;
/** Interval of log records about a member that stays unreachable. */
const LOG_AGAIN_MS = 60_000;

/** A member whose last probe failed. */
export interface UnreachedPeer {
  readonly id: string;
  readonly address: string;
  readonly cause: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Failed probes since then. */
  readonly failures: number;
}

interface ProbedPeer extends UnreachedPeer {
  readonly began: number;
  readonly loggedAt: number;
}

/**
 * Which other members this process can reach. Each is probed at its address a few times within a lease;
 * the process that answers must be that member, with the same secret.
 */
export class Peers {
  readonly #options: PeersOptions;
  #known = new Map<string, ProbedPeer>();
  #probedAt = -Infinity;
  #isProbing = false;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** The members whose last probe failed. */
  get unreachedPeers(): readonly UnreachedPeer[] {
    return [...this.#known.values()];
  }

  /** Ids of the members whose probes failed for a whole lease: they are reported to the others. */
  get unreached(): readonly string[] {
    const { stopwatch, leaseMs } = this.#options;
    const now = stopwatch.now();
    return [...this.#known.values()]
      .filter(({ began, failures }) => failures >= FAILURES_MIN && now - began >= leaseMs)
      .map(({ id }) => id);
  }

  /** The other members, as of a heartbeat. Probes them if the last probes are long enough ago. */
  seen(others: readonly FleetMember[]): void {
    const { stopwatch, heartbeatMs, leaseMs } = this.#options;
    const ids = new Set(others.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const now = stopwatch.now();
    const everyMs = Math.max(heartbeatMs, leaseMs / (FAILURES_MIN + 1));
    if (this.#isProbing || now - this.#probedAt < everyMs) return;
    this.#probedAt = now;
    this.#isProbing = true;
    void Promise.all(others.map((other) => this.#probe(other))).finally(() => {
      this.#isProbing = false;
    });
  }

  async #probe(node: FleetMember): Promise<void> {
    const { leaseMs, log } = this.#options;
    const who = await probe(node.address, this.#options, Math.min(PROBE_TIMEOUT_MS, leaseMs / 2));
    const cause = faultOf(who, node.id);
    const known = this.#known.get(node.id);
    if (cause !== undefined) return this.#failed(node, cause);
    if (!known) return;
    this.#known.delete(node.id);
    log("info", "Another process of the fleet is reached again", { address: node.address });
  }

  #failed({ id, address }: FleetMember, cause: string): void {
    const { stopwatch, clock, log } = this.#options;
    const now = stopwatch.now();
    const before = this.#known.get(id);
    const failures = (before?.failures ?? 0) + 1;
    const isLogged = before !== undefined && now - before.loggedAt < LOG_AGAIN_MS;
    const [began, since] = [before?.began ?? now, before?.since ?? clock.now()];
    const loggedAt = isLogged ? before.loggedAt : now;
    this.#known.set(id, { id, address, cause, since, failures, began, loggedAt });
    if (isLogged) return;
    log("warn", "Another process of the fleet cannot be reached", { address, cause, failures });
  }
}

function faultOf(who: ProbeResult, id: string): string | undefined {
  switch (who.kind) {
    case "member":
      return who.node === id ? undefined : "another process answers at its address";
    case "otherSecret":
      return `its "fleet.secret" is another one`;
    default:
      return who.why;
  }
}
