import { Failure } from "../errors.ts";
import type { Log } from "../ports.ts";
import type { PeerResponse } from "./peer_response.ts";
import { pack, unpack } from "./codec.ts";
import type { FleetMember } from "./membership.ts";
import {
  nodeOf,
  postTo,
  probe,
  PROBE_TIMEOUT_MS,
  type ProbeResult,
  type TimedPeerTransport,
} from "./identity_probe.ts";

export interface JoinCheckOptions extends TimedPeerTransport {
  /** Where the others are told to reach this process. */
  readonly address: string;
  /** What this process calls itself since it started. */
  readonly instance: string;
  /** The other processes, as the database has them. Some of them may be dead. */
  readonly peers: () => Promise<readonly FleetMember[]>;
  readonly log: Log;
  /** How long an address that leads elsewhere is tried again. */
  readonly timeoutMs: number;
}

const RETRY_MS = 250;

/**
 * Checks, before a process joins, that its address leads to it, from here and from the processes
 * that are there, and that they have the same secret. Otherwise it would take its share of the
 * partitions and nobody could reach them. Rejects with `Failure` RT0030 or RT0031 when that is still
 * so after `timeoutMs`.
 */
export async function checkJoin(options: JoinCheckOptions): Promise<void> {
  const { stopwatch, log, address, timeoutMs } = options;
  const began = stopwatch.now();
  for (let isTold = false;; isTold = true) {
    const failure = await failureOf(options);
    if (!failure) return;
    if (stopwatch.now() - began >= timeoutMs) throw failure;
    if (!isTold) {
      log("warn", "Waiting to be reached by the fleet", { address, cause: failure.message });
    }
    await new Promise<void>((resolve) => stopwatch.after(RETRY_MS, resolve));
  }
}

async function failureOf(options: JoinCheckOptions): Promise<Failure | undefined> {
  const { address, instance, peers } = options;
  const who = await probe(address, options);
  if (!isMe(who, instance)) return new Failure("RT0030", elsewhere(address, "itself", who));
  const others = (await peers().catch(() => [])).filter((other) => other.address !== address);
  const reports = await Promise.all(others.map((other) => reachReportOf(other, options)));
  const stranger = reports.find(({ kind }) => kind === "otherSecret");
  if (stranger) {
    const detail = `The process of this fleet at ${stranger.peer} has another "fleet.secret"`;
    return new Failure("RT0031", detail);
  }
  const unreached = reports.find(({ kind }) => kind === "unreached");
  const isReached = reports.some(({ kind }) => kind === "reached");
  return unreached && !isReached ? new Failure("RT0030", unreached.detail) : undefined;
}

function isMe(who: ProbeResult, instance: string): boolean {
  return who.kind === "member" && who.instance === instance;
}

/** How this process looks from another one. `unknown`: it is dead, or too old to say. */
interface ReachReport {
  readonly kind: "reached" | "unreached" | "otherSecret" | "unknown";
  readonly peer: string;
  readonly detail: string;
}

async function reachReportOf(peer: FleetMember, options: JoinCheckOptions): Promise<ReachReport> {
  const { address, instance } = options;
  const report = (kind: ReachReport["kind"], detail = "") => ({ kind, peer: peer.address, detail });
  try {
    const told = await postTo(`${peer.address}/fleet/reach`, options, {
      // The other process waits for an answer as well.
      timeoutMs: 2 * PROBE_TIMEOUT_MS,
      body: pack(address),
    });
    // A program that has come to an address of a dead process does not know its name.
    if (told.status === 401 || told.status === 403) {
      return report(nodeOf(told.body) === peer.id ? "otherSecret" : "unknown");
    }
    if (told.status !== 200) return report("unknown");
    const who = (unpack(told.body) as PeerResponse).value as ProbeResult;
    if (isMe(who, instance)) return report("reached");
    return report("unreached", elsewhere(address, `the process at ${peer.address}`, who));
  } catch {
    return report("unknown");
  }
}

function elsewhere(address: string, from: string, who: ProbeResult): string {
  const why = who.kind === "none"
    ? who.why
    : "another process answers there" + (who.kind === "member" ? "" : ", with another secret");
  return `This process cannot be reached at ${address} by ${from}: ${why}` +
    ` ("fleet.advertised-address")`;
}
