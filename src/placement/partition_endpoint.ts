import { Failure } from "../errors.ts";
import type { Log, PartitionClient } from "../ports.ts";
import type { RunningAttempt } from "../query_port.ts";
import { encodeFailure, type PeerResponse } from "./peer_response.ts";
import { pack, unpack } from "./codec.ts";
import { askPartition, isPartitionMethod } from "./partition_methods.ts";
import { checkSecret } from "./secret.ts";
import type { MemberIdentity, ProbeResult } from "./identity_probe.ts";

export interface EndpointOptions {
  readonly secret: string;
  /** The client of a partition of this process. Undefined: it is not here. */
  readonly partitionClient: (partition: number) => PartitionClient | undefined;
  /** The address of the owner of another partition, as far as it is known. */
  readonly owner: (partition: number) => string | undefined;
  /** The fleet has changed: reads the membership at once. */
  readonly refresh: () => void;
  /** A deployment has changed. Resolves when this process knows the change. */
  readonly reload: () => Promise<void>;
  /** Folds all commits into the tables. Absent: they need no fold. */
  readonly flush?: () => Promise<void>;
  /** The identity of this process, for probes. Absent: it is not probed. */
  readonly who?: () => MemberIdentity;
  /** Probes an address, so that another process learns whether it can be reached from here. */
  readonly reach?: (address: string) => Promise<ProbeResult>;
  /** Attempts that run in this process now. */
  readonly running?: (() => readonly RunningAttempt[]) | undefined;
  readonly reader: Reader;
  readonly bytesMax: number;
  readonly log: Log;
}

/** How requests are read: a part of the reader of ingress (`ingress/request_reader.ts`). */
export interface Reader {
  /** Path and query, or the whole URL. */
  target(request: Request): string;
  /** Names and values in turn. */
  headers(request: Request): readonly string[];
  /** The whole body. Undefined: it is longer than `bytesMax`. */
  body(
    request: Request,
    limit: { readonly length: number | undefined; readonly bytesMax: number },
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** Calls `leave` when the client disconnects. */
  onLeave(request: Request, leave: () => void): void;
}

const PATH = /\/partitions\/(\d{1,5})\/([a-zA-Z]+)$/;

/**
 * The HTTP interface between the members of a fleet: `POST /partitions/<n>/<method>`,
 * `POST /registry/reload`, and `POST /fleet/` with `look`, `flush`, `who` and `reach`. The status is 401
 * or 403, with the id of this member, for a request without the secret, 421 for a partition that this
 * process does not have, and otherwise 200, also for a failure of the partition.
 */
export function partitionEndpoint(
  options: EndpointOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const headers = options.reader.headers(request);
    const check = checkSecret(valueOf(headers, "authorization"), options.secret);
    const node = options.who?.().node;
    if (check === "none") return refusal(401, "a secret is needed", { node });
    if (check === "other") return refusal(403, "the secret is not that of this fleet", { node });
    const target = options.reader.target(request);
    if (request.method !== "POST") return refusal(405, "only POST is understood");
    const change = FLEET_ROUTES.find(([path]) => target.endsWith(path))?.[1];
    if (change) return await answerFleetRoute(() => change(options, request), options.log);
    const [, partition, method] = PATH.exec(target) ?? [];
    if (method === undefined || !isPartitionMethod(method)) {
      return refusal(404, "no such path");
    }
    const length = Number(valueOf(headers, "content-length") ?? NaN);
    return await ask(request, options, { partition: Number(partition), method, length });
  };
}

async function ask(
  request: Request,
  options: EndpointOptions,
  { partition, method, length }: {
    readonly partition: number;
    readonly method: keyof PartitionClient;
    readonly length: number;
  },
): Promise<Response> {
  const client = options.partitionClient(partition);
  if (!client) {
    return refusal(421, "the partition is not here", { owner: options.owner(partition) });
  }
  const { bytesMax, reader } = options;
  if (length > bytesMax) return refusal(413, "the body is too large");
  const declared = length > 0 ? length : undefined;
  const body = await reader.body(request, { length: declared, bytesMax });
  if (!body) return refusal(413, "the body is too large");
  let args: unknown[];
  try {
    const sent = unpack(body);
    if (!Array.isArray(sent)) throw Failure.plain(400, "Cannot read a message of another process");
    args = sent;
  } catch (cause) {
    return refusal(400, cause instanceof Failure ? cause.message : "the body cannot be read");
  }
  const onLeave = (leave: () => void) => reader.onLeave(request, leave);
  const answer = await answerOf(() => askPartition(client, method, { args, onLeave }), options.log);
  return packed(answer);
}

async function answerOf(ask: () => Promise<unknown>, log: Log): Promise<PeerResponse> {
  try {
    return { value: await ask() };
  } catch (cause) {
    if (cause instanceof Failure) return { failure: encodeFailure(cause) };
    log("error", "A request of another process failed", { cause: String(cause) });
    return { failure: encodeFailure(Failure.plain(500, "internal server error")) };
  }
}

/** Routes that do not concern one partition. */
const FLEET_ROUTES: readonly (readonly [path: string, act: FleetRoute])[] = [
  ["/fleet/look", ({ refresh }) => refresh()],
  ["/fleet/flush", ({ flush, running }) => flush?.().then(running)],
  ["/fleet/who", ({ who }) => who?.()],
  ["/fleet/reach", async ({ reader, reach }, request) => {
    const body = await reader.body(request, { length: undefined, bytesMax: ADDRESS_BYTES_MAX });
    const address = body && unpack(body);
    if (typeof address === "string" && URL.canParse(address)) return await reach?.(address);
    throw Failure.plain(400, "Cannot read an address of another process");
  }],
  ["/registry/reload", ({ reload }) => reload()],
];

type FleetRoute = (options: EndpointOptions, request: Request) => unknown;

const ADDRESS_BYTES_MAX = 4096;

async function answerFleetRoute(act: () => unknown, log: Log): Promise<Response> {
  try {
    return packed({ value: await act() });
  } catch (cause) {
    log("warn", "Cannot do what another process asks for", { cause: String(cause) });
    return refusal(503, "this cannot be done right now");
  }
}

function packed(answer: PeerResponse): Response {
  return new Response(pack(answer), { headers: { "content-type": "application/octet-stream" } });
}

function refusal(status: number, message: string, more: object = {}): Response {
  return Response.json({ message, ...more }, { status });
}

function valueOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  }
  return undefined;
}
