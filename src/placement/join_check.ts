import { Failure } from "../errors.ts";
import type { Log } from "../ports.ts";
import type { Answer } from "./answer.ts";
import { pack, unpack } from "./codec.ts";
import type { Node } from "./membership.ts";
import { nodeOf, tell, type TimedLine, type Who, WHO_MS, whoIsAt } from "./identity_probe.ts";

export interface ArrivalOptions extends TimedLine {
  /** Where the others are told to reach this process. */
  readonly address: string;
  /** What this process calls itself since it started. */
  readonly instance: string;
  /** The other processes, as the database has them. Some of them may be dead. */
  readonly peers: () => Promise<readonly Node[]>;
  readonly log: Log;
  /** How long an address that leads elsewhere is tried again. */
  readonly timeoutMs: number;
}

const AGAIN_MS = 250;

/**
 * Checks, before a process joins, that its address leads to it, from here and from the processes
 * that are there, and that they have the same secret. Otherwise it would take its share of the
 * partitions and nobody could reach them. Rejects with `Failure` RT0030 or RT0031 when that is still
 * so after `timeoutMs`.
 */
export async function checkArrival(options: ArrivalOptions): Promise<void> {
  const { stopwatch, log, address, timeoutMs } = options;
  const began = stopwatch.now();
  for (let isTold = false;; isTold = true) {
    const failure = await failureOf(options);
    if (!failure) return;
    if (stopwatch.now() - began >= timeoutMs) throw failure;
    if (!isTold) {
      log("warn", "Waiting to be reached by the fleet", { address, cause: failure.message });
    }
    await new Promise<void>((resolve) => stopwatch.after(AGAIN_MS, resolve));
  }
}

async function failureOf(options: ArrivalOptions): Promise<Failure | undefined> {
  const { address, instance, peers } = options;
  const who = await whoIsAt(address, options);
  if (!isMe(who, instance)) return new Failure("RT0030", elsewhere(address, "itself", who));
  const others = (await peers().catch(() => [])).filter((other) => other.address !== address);
  const sights = await Promise.all(others.map((other) => sightOf(other, options)));
  const stranger = sights.find(({ kind }) => kind === "otherSecret");
  if (stranger) {
    const detail = `The process of this fleet at ${stranger.peer} has another "fleet.secret"`;
    return new Failure("RT0031", detail);
  }
  const blind = sights.find(({ kind }) => kind === "blind");
  const isSeen = sights.some(({ kind }) => kind === "seen");
  return blind && !isSeen ? new Failure("RT0030", blind.detail) : undefined;
}

function isMe(who: Who, instance: string): boolean {
  return who.kind === "member" && who.instance === instance;
}

/** How this process looks from another one. `unknown`: it is dead, or too old to say. */
interface Sight {
  readonly kind: "seen" | "blind" | "otherSecret" | "unknown";
  readonly peer: string;
  readonly detail: string;
}

async function sightOf(peer: Node, options: ArrivalOptions): Promise<Sight> {
  const { address, instance } = options;
  const sight = (kind: Sight["kind"], detail = "") => ({ kind, peer: peer.address, detail });
  try {
    const told = await tell(`${peer.address}/fleet/reach`, options, {
      // The other process waits for an answer as well.
      timeoutMs: 2 * WHO_MS,
      body: pack(address),
    });
    // A program that has come to an address of a dead process does not know its name.
    if (told.status === 401 || told.status === 403) {
      return sight(nodeOf(told.body) === peer.id ? "otherSecret" : "unknown");
    }
    if (told.status !== 200) return sight("unknown");
    const who = (unpack(told.body) as Answer).value as Who;
    if (isMe(who, instance)) return sight("seen");
    return sight("blind", elsewhere(address, `the process at ${peer.address}`, who));
  } catch {
    return sight("unknown");
  }
}

function elsewhere(address: string, from: string, who: Who): string {
  const why = who.kind === "none"
    ? who.why
    : "another process answers there" + (who.kind === "member" ? "" : ", with another secret");
  return `This process cannot be reached at ${address} by ${from}: ${why}` +
    ` ("fleet.advertised-address")`;
}
