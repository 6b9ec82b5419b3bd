import { Failure } from "../errors.ts";
import type { Log } from "../ports.ts";
import type { PeerResponse } from "./peer_response.ts";
import { pack, unpack } from "./codec.ts";
import type { FleetMember } from "./membership.ts";
import { Untrusted } from "./partition_client.ts";
import {
  nodeOf,
  postTo,
  probe,
  PROBE_TIMEOUT_MS,
  type ProbeResult,
  type TimedPeerTransport,
} from "./identity_probe.ts";

export interface JoinCheckOptions extends TimedPeerTransport {
  /** The address at which other members will reach this process. */
  readonly address: string;
  /** The id of this process since its start. */
  readonly instance: string;
  /** The members in the database. Some of them may be dead. */
  readonly peers: () => Promise<readonly FleetMember[]>;
  readonly log: Log;
  /** How long a failed check is repeated, in milliseconds. */
  readonly timeoutMs: number;
}

const RETRY_MS = 250;

/**
 * Checks, before a process joins, that its address leads to it, from here and from the members, and
 * that they have the same secret. Otherwise it would claim its share of the partitions and no member
 * could reach them. Rejects with `Failure` RT0030, RT0031 or RT0034 when a check still fails after `timeoutMs`.
 */
export async function checkJoin(options: JoinCheckOptions): Promise<void> {
  const { stopwatch, log, address, timeoutMs } = options;
  const began = stopwatch.now();
  for (let isLogged = false;; isLogged = true) {
    const failure = await failureOf(options);
    if (!failure) return;
    if (stopwatch.now() - began >= timeoutMs) throw failure;
    if (!isLogged) {
      log("warn", "Waiting to be reached by the fleet", { address, cause: failure.message });
    }
    await new Promise<void>((resolve) => stopwatch.after(RETRY_MS, resolve));
  }
}

async function failureOf(options: JoinCheckOptions): Promise<Failure | undefined> {
  const { address, instance, peers } = options;
  const who = await probe(address, options);
  if (!isMe(who, instance)) return new Failure(codeOf(who), elsewhere(address, "itself", who));
  const others = (await peers().catch(() => [])).filter((other) => other.address !== address);
  const reports = await Promise.all(others.map((other) => reachReportOf(other, options)));
  const foreign = reports.find(({ kind }) => kind === "otherSecret");
  if (foreign) {
    const detail = `The process of this fleet at ${foreign.peer} has another "fleet.secret"`;
    return new Failure("RT0031", detail);
  }
  if (reports.some(({ kind }) => kind === "reached")) return undefined;
  const untrusted = reports.find(({ kind }) => kind === "untrusted");
  if (untrusted) return new Failure("RT0034", untrusted.detail);
  const unreached = reports.find(({ kind }) => kind === "unreached");
  return unreached && new Failure("RT0030", unreached.detail);
}

function isMe(who: ProbeResult, instance: string): boolean {
  return who.kind === "member" && who.instance === instance;
}

function codeOf({ kind }: ProbeResult): "RT0030" | "RT0034" {
  return kind === "untrusted" ? "RT0034" : "RT0030";
}

/**
 * Whether another member reaches this process. `untrusted`: one of the two does not accept the
 * certificate of the other. `unknown`: it is dead, or of an earlier version.
 */
interface ReachReport {
  readonly kind: "reached" | "unreached" | "untrusted" | "otherSecret" | "unknown";
  readonly peer: string;
  readonly detail: string;
}

async function reachReportOf(peer: FleetMember, options: JoinCheckOptions): Promise<ReachReport> {
  const { address, instance } = options;
  const report = (kind: ReachReport["kind"], detail = "") => ({ kind, peer: peer.address, detail });
  try {
    const response = await postTo(`${peer.address}/fleet/reach`, options, {
      // The other member waits for a probe of its own.
      timeoutMs: 2 * PROBE_TIMEOUT_MS,
      body: pack(address),
    });
    // A program that now listens at the address of a dead member does not know its id.
    if (response.status === 401 || response.status === 403) {
      return report(nodeOf(response.body) === peer.id ? "otherSecret" : "unknown");
    }
    if (response.status !== 200) return report("unknown");
    const who = (unpack(response.body) as PeerResponse).value as ProbeResult;
    if (isMe(who, instance)) return report("reached");
    const kind = who.kind === "untrusted" ? "untrusted" : "unreached";
    return report(kind, elsewhere(address, `the process at ${peer.address}`, who));
  } catch (cause) {
    if (!(cause instanceof Untrusted)) return report("unknown");
    return report(
      "untrusted",
      `Cannot call ${peer.address}, a process of this fleet: ${cause.message}`,
    );
  }
}

function elsewhere(address: string, from: string, who: ProbeResult): string {
  const where = `This process cannot be reached at ${address} by ${from}`;
  if (who.kind === "untrusted") return `${where}: ${who.why}`;
  const why = who.kind === "none"
    ? who.why
    : "another process answers there" + (who.kind === "member" ? "" : ", with another secret");
  return `${where}: ${why} ("fleet.advertised-address")`;
}
