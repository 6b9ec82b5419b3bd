import { Failure } from "../errors.ts";
import type { Door, Log, OnLeave } from "../ports.ts";
import type { RunningAttempt } from "../query_port.ts";
import { type Answer, spoken } from "./answer.ts";
import { pack, unpack } from "./codec.ts";
import { checkSecret } from "./secret.ts";
import type { Identity, Who } from "./identity_probe.ts";

export interface EndpointOptions {
  readonly secret: string;
  /** A partition that this process has. */
  readonly door: (partition: number) => Door | undefined;
  /** Where a partition is instead, as far as is known. */
  readonly owner: (partition: number) => string | undefined;
  /** Something in the fleet has changed: looks at once. */
  readonly look: () => void;
  /** Somebody has registered something. Resolves when this process knows of it. */
  readonly reload: () => Promise<void>;
  /** Brings everything that was committed into the tables. Absent: it is there. */
  readonly flush?: () => Promise<void>;
  /** What this process is called. Absent: no process asks. */
  readonly who?: () => Identity;
  /** Asks what answers at an address, so that another process learns whether it can be reached. */
  readonly reach?: (address: string) => Promise<Who>;
  /** Attempts that run here at this moment. */
  readonly running?: (() => readonly RunningAttempt[]) | undefined;
  readonly reader: Reader;
  readonly bytesMax: number;
  readonly log: Log;
}

/** How requests are read: a part of what ingress has (`ingress/request_reader.ts`). */
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
  /** Has `leave` called when whoever asks goes away. */
  onLeave(request: Request, leave: () => void): void;
}

type Asked = (door: Door, args: readonly never[], onLeave: OnLeave) => Promise<unknown>;

/** Every way to ask a partition. What a caller waits for long can be left. */
const METHODS: { readonly [K in keyof Door]: Asked } = {
  send: (door, [request = never()]) => door.send(request),
  call: (door, [request = never()], onLeave) => door.call(request, onLeave),
  attach: (door, [id = never()], onLeave) => door.attach(id, onLeave),
  output: (door, [id = never()]) => door.output(id),
  signal: (door, [signal = never()]) => door.signal(signal),
  editState: (door, [object = never(), edit = never()]) => door.editState(object, edit),
  operate: (door, [id = never(), operation = never()]) => door.operate(id, operation),
  deliver: (door, [parcel = never()]) => door.deliver(parcel),
};

const PATH = /\/partitions\/(\d{1,5})\/([a-zA-Z]+)$/;

/**
 * What the other processes of the fleet ask of this one, over HTTP: `POST /partitions/<n>/<method>`,
 * `POST /registry/reload`, and `POST /fleet/` with `look`, `flush`, `who` and `reach`. Answers 401 and
 * 403, with the name of this process, to a request without the secret, 421 for a partition that this process does not have, and otherwise 200, whatever the
 * partition has answered.
 */
export function doorEndpoint(options: EndpointOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const headers = options.reader.headers(request);
    const check = checkSecret(valueOf(headers, "authorization"), options.secret);
    const node = options.who?.().node;
    if (check === "none") return refusal(401, "a secret is needed", { node });
    if (check === "other") return refusal(403, "the secret is not that of this fleet", { node });
    const target = options.reader.target(request);
    if (request.method !== "POST") return refusal(405, "only POST is understood");
    const news = NEWS.find(([path]) => target.endsWith(path))?.[1];
    if (news) return await told(() => news(options, request), options.log);
    const [, partition, method] = PATH.exec(target) ?? [];
    if (method === undefined || !Object.hasOwn(METHODS, method)) {
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
    readonly method: string;
    readonly length: number;
  },
): Promise<Response> {
  const door = options.door(partition);
  if (!door) {
    return refusal(421, "the partition is not here", { owner: options.owner(partition) });
  }
  const { bytesMax, reader } = options;
  if (length > bytesMax) return refusal(413, "the body is too large");
  const declared = length > 0 ? length : undefined;
  const body = await reader.body(request, { length: declared, bytesMax });
  if (!body) return refusal(413, "the body is too large");
  let args: unknown;
  try {
    args = unpack(body);
    if (!Array.isArray(args)) throw Failure.plain(400, "Cannot read a message of another process");
  } catch (cause) {
    return refusal(400, cause instanceof Failure ? cause.message : "the body cannot be read");
  }
  const asked = METHODS[method as keyof Door];
  const answer = await answerOf(
    () => asked(door, args as never[], (leave) => reader.onLeave(request, leave)),
    options.log,
  );
  return packed(answer);
}

async function answerOf(ask: () => Promise<unknown>, log: Log): Promise<Answer> {
  try {
    return { value: await ask() };
  } catch (cause) {
    if (cause instanceof Failure) return { failure: spoken(cause) };
    log("error", "A request of another process failed", { cause: String(cause) });
    return { failure: spoken(Failure.plain(500, "internal server error")) };
  }
}

/** What is not about one partition. */
const NEWS: readonly (readonly [path: string, act: News])[] = [
  ["/fleet/look", ({ look }) => look()],
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

type News = (options: EndpointOptions, request: Request) => unknown;

const ADDRESS_BYTES_MAX = 4096;

async function told(act: () => unknown, log: Log): Promise<Response> {
  try {
    return packed({ value: await act() });
  } catch (cause) {
    log("warn", "Cannot do what another process asks for", { cause: String(cause) });
    return refusal(503, "this cannot be done right now");
  }
}

function packed(answer: Answer): Response {
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

/** An argument that is missing. */
function never(): never {
  throw Failure.plain(400, "Cannot read a message of another process: an argument is missing");
}
