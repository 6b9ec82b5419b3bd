import type { Stopwatch } from "../ports.ts";
import type { PeerResponse } from "./peer_response.ts";
import { unpack } from "./codec.ts";
import { headersOf, type PeerTransport, Untrusted } from "./partition_client.ts";

/** How long a probe waits for its response, in milliseconds. */
export const PROBE_TIMEOUT_MS = 2_000;

/** The identity by which a process responds to a probe. */
export interface MemberIdentity {
  /** Drawn at the start of the process. */
  readonly instance: string;
  /** Its row in table `node`; empty before it has joined. */
  readonly node: string;
}

/** The kind of process that answers at an address. */
export type ProbeResult =
  | ({ readonly kind: "member" } & MemberIdentity)
  /** A member of a fleet with another secret. `node`: its id, if the response has it. */
  | { readonly kind: "otherSecret"; readonly node: string | undefined }
  /** Its certificate is not accepted. */
  | { readonly kind: "untrusted"; readonly why: string }
  /** Another program, or no response. */
  | { readonly kind: "none"; readonly why: string };

/** A transport with a stopwatch for time limits. */
export interface TimedPeerTransport extends PeerTransport {
  readonly stopwatch: Stopwatch;
}

export interface PeerReply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Posts to another process. Rejects when there is no response within `timeoutMs`. */
export async function postTo(
  url: string,
  transport: TimedPeerTransport,
  { timeoutMs, body = new Uint8Array(0) }: {
    readonly timeoutMs: number;
    readonly body?: Uint8Array<ArrayBuffer>;
  },
): Promise<PeerReply> {
  const controller = new AbortController();
  const forget = transport.stopwatch.after(timeoutMs, () => controller.abort());
  try {
    const request = { method: "POST", headers: headersOf(transport), body } as const;
    const posted = await transport.post(url, { ...request, signal: controller.signal });
    return { status: posted.status, body: new Uint8Array(await posted.arrayBuffer()) };
  } catch (cause) {
    if (!controller.signal.aborted) throw cause;
    throw new Error(`no answer within ${timeoutMs / 1_000} s`, { cause });
  } finally {
    forget();
  }
}

/** Probes which process answers at an address. Never rejects. */
export async function probe(
  address: string,
  transport: TimedPeerTransport,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<ProbeResult> {
  try {
    const { status, body } = await postTo(`${address}/fleet/who`, transport, { timeoutMs });
    if (status === 401 || status === 403) return { kind: "otherSecret", node: nodeOf(body) };
    if (status !== 200) return { kind: "none", why: `it answered with status ${status}` };
    const { instance, node } = (unpack(body) as PeerResponse).value as Partial<MemberIdentity>;
    return typeof instance === "string" && typeof node === "string"
      ? { kind: "member", instance, node }
      : { kind: "none", why: "its answer is not that of a process of a fleet" };
  } catch (cause) {
    if (cause instanceof Untrusted) return { kind: "untrusted", why: cause.message };
    return { kind: "none", why: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** The node that a refusal names (`partition_endpoint.ts`). */
export function nodeOf(refusal: Uint8Array): string | undefined {
  try {
    const { node } = JSON.parse(new TextDecoder().decode(refusal)) as { node?: unknown };
    return typeof node === "string" ? node : undefined;
  } catch {
    return undefined;
  }
}
