import { type Logged, logTo } from "./_logged.ts";
import type { Discover, Discovered, ManifestService } from "../../src/admin/registration.ts";
import { Registry } from "../../src/admin/registry.ts";
import { admin, type AdminOptions } from "../../src/admin/router.ts";
import { Failure } from "../../src/errors.ts";
import type { IngestDeps, RequestBatch } from "../../src/kafka/ingest.ts";
import type { KafkaStore } from "../../src/kafka_port.ts";
import type { OwedLetter } from "../../src/model/kafka.ts";
import type { Deployment, FlowControl, HandlerSchema } from "../../src/model/schema.ts";
import { IngestCounts } from "../../src/observe/ingest_counts.ts";
import type { DeploymentStore, LettersRequest } from "../../src/ports.ts";
import { MemoryCatalog } from "../support/memory_catalog.ts";
import { defaults } from "../support/schema.ts";
import { checkAnswer } from "./_contract.ts";
import { FakeInvocations } from "./_invocations.ts";
import { kafkaOf } from "./_kafka_admin.ts";

/** A store whose writes may fail. */
export class FakeStore extends MemoryCatalog {
  /** What the next writes do, first one first; then they succeed. */
  readonly faults: ("refuse" | "lose the answer")[] = [];
  /** Awaited before a write is applied. */
  gate: Promise<void> = Promise.resolve();

  protected override async write(apply: () => void): Promise<void> {
    await this.gate;
    const fault = this.faults.shift();
    if (fault !== "refuse") apply();
    if (fault) throw new Error("the disk is on fire");
  }
}

export function handler(name: string, more: Partial<HandlerSchema> = {}): HandlerSchema {
  return { name, access: "none", public: true, options: {}, ...more };
}

export function service(
  name: string,
  handlers: readonly HandlerSchema[] = [handler("h")],
  more: Partial<ManifestService> = {},
): ManifestService {
  return {
    name,
    type: "service",
    public: true,
    options: {},
    handlers: Object.fromEntries(handlers.map((one) => [one.name, one])),
    ...more,
  };
}

export function discovered(
  services: readonly ManifestService[],
  { mode = "bidi", ...more }: Partial<Discovered> & { mode?: Deployment["mode"] } = {},
): Discovered {
  return {
    manifest: { mode, minProtocol: 5, maxProtocol: 7, services },
    httpVersion: "HTTP/2.0",
    dialect: "svc",
    ...more,
  };
}

export const REGISTRATIONS_MAX = 100;
export const RULES_MAX = 100;
export const PAUSED_QUEUES_MAX = 3;
export const CLUSTERS_MAX = 4;
export const SUBSCRIPTIONS_MAX = 5;
export const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** What the fake endpoints answer, what they were asked, what was logged, and the time. */
export class World {
  now = Date.UTC(2026, 10, 20, 15, 40, 41, 949);
  /** Invocations that need a deployment, by its id. Undefined: they cannot be counted. */
  readonly pinned: Map<string, number> | undefined;
  readonly endpoints = new Map<string, Discovered | Error | Promise<Discovered>>();
  readonly asked: Parameters<Discover>[0][] = [];
  readonly logged: Logged[] = [];
  readonly counts = new IngestCounts();
  /** Batches of records that partitions took, and how they take the next one. */
  readonly batches: RequestBatch[] = [];
  take: IngestDeps["take"] = (batch) => {
    this.batches.push(batch);
    return Promise.resolve({ next: batch.next });
  };
  /** What was asked for letters, and what is owed. */
  readonly letterRequests: LettersRequest[] = [];
  owed: readonly OwedLetter[] = [];
  /** Deployments whose serdes were applied. */
  readonly applied: string[] = [];
  /** How often work was interrupted, so that other events are handled. */
  pauses = 0;
  readonly #alarms = new Set<{ readonly due: number; readonly call: () => void }>();
  #drawn = 0;

  readonly #flowControl: FlowControl | undefined;

  constructor({ pinned, flowControl }: Partial<AdminLimits> = {}) {
    this.pinned = pinned;
    this.#flowControl = flowControl;
  }

  /** As in `Clock`; `pass` calls back. */
  at(due: number, call: () => void): () => void {
    const alarm = { due, call };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.now += ms;
    for (const { due, call } of [...this.#alarms]) if (due <= this.now) call();
  }

  soon(call: () => void): void {
    this.pauses++;
    setImmediate(call);
  }

  open(store: DeploymentStore): Promise<Registry> {
    const flowControl = this.#flowControl;
    return Registry.open(store, { ...defaults, ...(flowControl && { flowControl }) }, {
      clock: { now: () => this.now++, soon: (call) => this.soon(call) },
      random: (size) => new Uint8Array(size).fill(++this.#drawn),
      registrationsMax: REGISTRATIONS_MAX,
      rulesMax: RULES_MAX,
      pausedQueuesMax: PAUSED_QUEUES_MAX,
      clustersMax: CLUSTERS_MAX,
      subscriptionsMax: SUBSCRIPTIONS_MAX,
      ...(this.pinned && { pinned: (id: string) => Promise.resolve(this.pinned?.get(id) ?? 0) }),
      discover: (request) => this.#discover(request),
    });
  }

  async #discover(request: Parameters<Discover>[0]): Promise<Discovered> {
    this.asked.push(structuredClone(request));
    await Promise.resolve();
    const found = this.endpoints.get(request.uri);
    if (found === undefined) throw new Failure("META0003", `Cannot reach '${request.uri}'`);
    if (found instanceof Error) throw found;
    return found;
  }
}

export interface AdminLimits extends
  Pick<
    AdminOptions,
    | "addressOf"
    | "allowedHosts"
    | "audit"
    | "auditStore"
    | "authenticator"
    | "changes"
    | "ingressEndpoint"
    | "metrics"
    | "sessions"
    | "ui"
  > {
  readonly requestsMax: number;
  readonly pinned: Map<string, number>;
  readonly isStrict: boolean;
  readonly flowControl: FlowControl;
  /** Where reports are kept, and the token. Default: nowhere, and `TOKEN`. */
  readonly kafkaStore: KafkaStore;
}

const clockOf = (world: World) => ({
  now: () => world.now,
  soon: (call: () => void) => world.soon(call),
});

const FIXED = {
  random: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
  version: "0.1.0",
  clusterName: "testing",
  ingressEndpoint: () => "http://127.0.0.1:8080/",
  bodyBytesMax: BODY_BYTES_MAX,
  requestsMax: Infinity,
};

/** An admin interface over a fake world. */
export async function setup(store = new FakeStore(), limits: Partial<AdminLimits> = {}) {
  const { kafkaStore, ...rest } = limits;
  const world = new World(limits);
  const registry = await world.open(store);
  const invocations = new FakeInvocations();
  const kafka = kafkaOf(world, registry, kafkaStore);
  const serve = admin({
    registry,
    kafka,
    invocations,
    ...clockOf(world),
    ...FIXED,
    applySerde: ({ deployment, body }) => {
      world.applied.push(deployment.id);
      return Promise.resolve(body);
    },
    ...rest,
    log: logTo(world.logged, rest),
  });
  const send = await sender(serve);
  const post = sendJson(send, "POST");
  return {
    ...{ serve, world },
    endpoints: world.endpoints,
    asked: world.asked,
    logged: world.logged,
    store,
    registry,
    kafka,
    invocations,
    send,
    post,
    patch: sendJson(send, "PATCH"),
    put: sendJson(send, "PUT"),
    get: (path: string) => send("GET", path),
    register: (body: unknown) => post("/deployments", body),
  };
}

type Serve = (request: Request) => Promise<Response>;

/** Sends requests, and holds every answer to what the interface says of itself. */
async function sender(serve: Serve) {
  const document = documents(serve);
  await document(new Headers());
  return async (method: string, path: string, init: RequestInit = {}) => {
    const response = await serve(new Request(`http://admin${path}`, { method, ...init }));
    const { status, headers } = response;
    const text = await response.text();
    const isJson = headers.get("content-type") === "application/json" && text !== "";
    const answer = { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
    checkAnswer(await document(new Headers(init.headers)), { method, path, answer });
    return answer;
  };
}

/** `body`: a text as it is, anything else as JSON. */
function sendJson(send: Awaited<ReturnType<typeof sender>>, method: string) {
  return (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(method, path, {
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
}

/** The same for every setup, and not cheap. */
const described = new Map<string, Record<string, unknown>>();

/** The admin interface's own description, in the caller's spelling. */
function documents(serve: Serve) {
  return async (headers: Headers) => {
    const speaker = JSON.stringify([...headers].filter(([name]) => name !== "content-type"));
    const document = described.get(speaker) ??
      await (await serve(new Request("http://admin/openapi", { headers }))).json();
    described.set(speaker, document);
    return document;
  };
}

/** The refusal everybody gets (docs/spec/admin.md#refusals). */
export function refusal(code: string | null, message: unknown) {
  return { message, svc_code: code, restate_code: code };
}
