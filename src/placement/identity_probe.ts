import type { Stopwatch } from "../ports.ts";
import type { Answer } from "./answer.ts";
import { unpack } from "./codec.ts";
import { headersOf, type Line } from "./partition_client.ts";

/** How long a process waits for the answer of another one about itself, in milliseconds. */
export const WHO_MS = 2_000;

/** How a process names itself to a process that asks at its address. */
export interface Identity {
  /** Drawn at the start of the process. */
  readonly instance: string;
  /** Its row in table `node`; empty before it has joined. */
  readonly node: string;
}

/** What answers at an address. */
export type Who =
  | ({ readonly kind: "member" } & Identity)
  /** A process of a fleet with another secret. `node`: what it calls itself, if it says so. */
  | { readonly kind: "otherSecret"; readonly node: string | undefined }
  /** Something else, or nothing. */
  | { readonly kind: "none"; readonly why: string };

/** A line with a time limit. */
export interface TimedLine extends Line {
  readonly stopwatch: Stopwatch;
}

export interface Told {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Posts to another process. Rejects when it does not answer within `timeoutMs`. */
export async function tell(
  url: string,
  line: TimedLine,
  { timeoutMs, body = new Uint8Array(0) }: {
    readonly timeoutMs: number;
    readonly body?: Uint8Array<ArrayBuffer>;
  },
): Promise<Told> {
  const controller = new AbortController();
  const forget = line.stopwatch.after(timeoutMs, () => controller.abort());
  try {
    const request = { method: "POST", headers: headersOf(line), body } as const;
    const posted = await line.post(url, { ...request, signal: controller.signal });
    return { status: posted.status, body: new Uint8Array(await posted.arrayBuffer()) };
  } catch (cause) {
    if (!controller.signal.aborted) throw cause;
    throw new Error(`no answer within ${timeoutMs / 1_000} s`, { cause });
  } finally {
    forget();
  }
}

/** Asks what answers at an address. Never rejects. */
export async function whoIsAt(
  address: string,
  line: TimedLine,
  timeoutMs = WHO_MS,
): Promise<Who> {
  try {
    const { status, body } = await tell(`${address}/fleet/who`, line, { timeoutMs });
    if (status === 401 || status === 403) return { kind: "otherSecret", node: nodeOf(body) };
    if (status !== 200) return { kind: "none", why: `it answered with status ${status}` };
    const { instance, node } = (unpack(body) as Answer).value as Partial<Identity>;
    return typeof instance === "string" && typeof node === "string"
      ? { kind: "member", instance, node }
      : { kind: "none", why: "its answer is not that of a process of a fleet" };
  } catch (cause) {
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
