import { Failure } from "../../src/errors.ts";
import { ingress } from "../../src/ingress/router.ts";
import type { IngressOptions } from "../../src/ingress/inbound.ts";
import type { Signal } from "../../src/model/command.ts";
import type { Result } from "../../src/model/journal.ts";
import type { PromiseTaken } from "../../src/model/promise.ts";
import {
  type Deployment,
  type FlowControl,
  type HandlerSchema,
  type InputRule,
  type OutputRule,
  Schema,
  type SchemaDefaults,
  type ServiceSchema,
} from "../../src/model/schema.ts";
import type { Access, ServiceType, Target } from "../../src/model/target.ts";
import type { Dialect } from "../../src/names.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  Invocations,
  OnLeave,
  Operated,
} from "../../src/ports.ts";

export const NOW = Date.parse("2026-11-20T15:33:26.191Z");
export const JSON_RULE: InputRule = { required: false, contentType: "application/json" };
const JSON_OUTPUT: OutputRule = { contentType: "application/json", setContentTypeIfEmpty: false };

const defaults: SchemaDefaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 2500,
  idempotencyRetentionMs: 2000,
  workflowRetentionMs: 3000,
  eagerStateBytesMax: 1024,
  retry: {
    initialIntervalMs: 500,
    maxIntervalMs: 60_000,
    factor: 2,
    maxAttempts: 70,
    onMaxAttempts: "pause",
  },
};

export function handler(
  name: string,
  access: Access,
  more: Partial<HandlerSchema> = {},
): HandlerSchema {
  return { name, access, public: true, options: {}, output: JSON_OUTPUT, ...more };
}

function service(name: string, type: ServiceType, handlers: HandlerSchema[]): ServiceSchema {
  return {
    name,
    type,
    deployment: "dp_1",
    revision: 1,
    public: name !== "Private",
    options: {},
    handlers: Object.fromEntries(handlers.map((one) => [one.name, one])),
  };
}

/** Rows of docs/spec/ingress.md#input-rules, one handler of `Svc` each. */
export const inputs: Record<string, InputRule> = {
  none: { required: false },
  opt: JSON_RULE,
  req: { required: true, contentType: "application/json" },
  schema: { ...JSON_RULE, jsonSchema: {} },
  reqschema: { required: true, contentType: "application/json", jsonSchema: {} },
  noct: { required: true },
  any: { required: true, contentType: "*/*" },
  text: { required: false, contentType: "text/*" },
  latin: { required: false, contentType: "text/plain; charset=latin1" },
};

export function schemaOf(dialect: Dialect, flowControl?: FlowControl): Schema {
  const services = [
    service("Svc", "service", [
      handler("absent", "none"),
      ...Object.entries(inputs).map(([name, input]) => handler(name, "none", { input })),
      handler("priv", "none", { public: false }),
      handler("plain", "none", {
        output: { contentType: "text/plain", setContentTypeIfEmpty: true },
      }),
      handler("untyped", "none", { output: { setContentTypeIfEmpty: false } }),
      { name: "bare", access: "none", public: true, options: {} },
    ]),
    service("Obj", "virtual_object", [
      handler("get", "shared"),
      handler("set", "exclusive"),
      handler("send", "shared"),
    ]),
    service("Wf", "workflow", [handler("run", "run"), handler("peek", "shared")]),
    service("Private", "service", [handler("x", "none")]),
  ];
  const deployment: Deployment = {
    id: "dp_1",
    uri: "http://127.0.0.1:9080/",
    mode: "bidi",
    httpVersion: "HTTP/2.0",
    dialect,
    additionalHeaders: {},
    metadata: {},
    minProtocol: 5,
    maxProtocol: 6,
    createdAt: 0,
    services,
  };
  return new Schema([deployment], { ...defaults, ...(flowControl && { flowControl }) });
}

/** Partitions that remember what they were asked, and answer as told. */
export class FakeInvocations implements Invocations {
  readonly calls: InvocationRequest[] = [];
  readonly sends: InvocationRequest[] = [];
  /** Ids whose result was asked for. */
  readonly attaches: string[] = [];
  readonly outputs: string[] = [];
  readonly signals: Signal[] = [];
  /** What `attach` and `output` find: an invocation of this target, none, or one without a result. */
  existing: Target | "unknown" | "notReady" = "unknown";
  /** Callers that went away. */
  left = 0;
  result: Result = { kind: "value", value: new TextEncoder().encode('"ok"') };
  expiresAt: number | undefined;
  accepted: Partial<Accepted> = {};
  error: unknown;

  completePromise(): Promise<PromiseTaken> {
    return Promise.reject(new Error("The ingress completes no promises of workflows"));
  }

  call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    this.calls.push(request);
    onLeave?.(() => this.left++);
    if (this.error !== undefined) return Promise.reject(this.error);
    return Promise.resolve(this.#completed());
  }

  send(request: InvocationRequest): Promise<Accepted> {
    this.sends.push(request);
    if (this.error !== undefined) return Promise.reject(this.error);
    return Promise.resolve({ id: request.id, status: "accepted", ...this.accepted });
  }

  /** Waits for ever for what is not ready, unless its caller leaves. */
  attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    this.attaches.push(id);
    const { existing } = this;
    const left = new Promise<never>((_, reject) =>
      onLeave?.(() => {
        this.left++;
        reject(Failure.plain(499, "the caller went away"));
      })
    );
    left.catch(() => {});
    if (this.error !== undefined) return Promise.reject(this.error);
    if (existing === "notReady") return left;
    return Promise.resolve(
      existing === "unknown" ? undefined : { ...this.#completed(), target: existing },
    );
  }

  output(id: string): Promise<Attached | "unknown" | "notReady"> {
    this.outputs.push(id);
    if (this.error !== undefined) return Promise.reject(this.error);
    const { existing } = this;
    return Promise.resolve(
      typeof existing === "string" ? existing : { ...this.#completed(), target: existing },
    );
  }

  signal(signal: Signal): Promise<void> {
    this.signals.push(signal);
    return this.error === undefined ? Promise.resolve() : Promise.reject(this.error);
  }

  /** Ingress has no operators. */
  operate(): Promise<Operated> {
    return Promise.reject(new Error("Ingress must not operate"));
  }

  editState(): Promise<void> {
    return Promise.reject(new Error("Ingress must not edit state"));
  }

  #completed(): Completed {
    const { result, expiresAt } = this;
    return expiresAt === undefined ? { result } : { result, expiresAt };
  }
}

export interface Fixture {
  readonly invocations: FakeInvocations;
  readonly logged: string[];
  readonly serve: (request: Request) => Promise<Response>;
  /** Asks by method, path and, perhaps, headers and body. */
  ask(method: string, path: string, init?: AskInit): Promise<Response>;
}

export interface AskInit {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array | ReadableStream;
}

export function fixture(
  { dialect = "svc", flowControl, ...more }: Partial<IngressOptions> & {
    dialect?: Dialect;
    flowControl?: FlowControl;
  } = {},
): Fixture {
  const invocations = new FakeInvocations();
  const logged: string[] = [];
  const schema = schemaOf(dialect, flowControl);
  const handle = ingress({
    invocations,
    schema: () => schema,
    now: () => NOW,
    random: (size) => crypto.getRandomValues(new Uint8Array(size)),
    log: (level, message) => logged.push(`${level} ${message}`),
    ...more,
  });
  const serve = async (request: Request) => await handle(request);
  return {
    invocations,
    logged,
    serve,
    ask: (method, path, { headers = {}, body } = {}) =>
      serve(
        new Request(`http://localhost:8080${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body: body as BodyInit, duplex: "half" }),
        }),
      ),
  };
}

/** Status and parsed body of an error answer. */
export async function told(response: Response): Promise<[status: number, body: unknown]> {
  return [response.status, await response.json()];
}
