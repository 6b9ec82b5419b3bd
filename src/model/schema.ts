import type { Dialect } from "../names.ts";
import type { AdditionalHeaders, IdentityToken } from "./endpoint_credentials.ts";
import type { Retention } from "./invocation.ts";
import { type Controls, NO_CONTROLS } from "./limits.ts";
import type { Access, ServiceType } from "./target.ts";

/** Options a service or handler may set in its manifest. Times in milliseconds. Absent: inherit. */
export interface HandlerOptions {
  readonly inactivityTimeoutMs?: number;
  readonly abortTimeoutMs?: number;
  readonly journalRetentionMs?: number;
  readonly idempotencyRetentionMs?: number;
  /** Workflow run handlers only. */
  readonly workflowRetentionMs?: number;
  readonly lazyState?: boolean;
  readonly retry?: RetryOptions;
}

export interface RetryOptions {
  readonly initialIntervalMs?: number;
  readonly maxIntervalMs?: number;
  readonly factor?: number;
  /** Attempts in all, the first included. */
  readonly maxAttempts?: number;
  readonly onMaxAttempts?: "pause" | "kill";
}

/** The rules for the body of a request to a handler (docs/spec/ingress.md#input-rules). */
export interface InputRule {
  readonly required: boolean;
  /** `type/subtype`, `type/*` or star/star; parameters are only shown. Absent: empty requests. */
  readonly contentType?: string;
  readonly jsonSchema?: unknown;
}

export interface OutputRule {
  readonly contentType?: string;
  readonly setContentTypeIfEmpty: boolean;
  readonly jsonSchema?: unknown;
}

export interface HandlerSchema {
  readonly name: string;
  readonly access: Access;
  /** False: it declares itself private, so only other handlers call it. True: see `isPublic`. */
  readonly public: boolean;
  /** It declares itself public, and stays so when an operator makes its service private. */
  readonly declaresPublic?: true;
  readonly options: HandlerOptions;
  /** Absent: any input is accepted. */
  readonly input?: InputRule;
  readonly output?: OutputRule;
  readonly documentation?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One revision of a service, as one deployment serves it. */
export interface ServiceSchema {
  readonly name: string;
  readonly type: ServiceType;
  readonly deployment: string;
  readonly revision: number;
  readonly public: boolean;
  readonly options: HandlerOptions;
  readonly handlers: Readonly<Record<string, HandlerSchema>>;
  readonly documentation?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * The values of the manifest that the operator has changed since (docs/spec/admin.md#services).
   */
  readonly announced?: Partial<Pick<ServiceSchema, "public" | "options" | "handlers">>;
}

/** The handler of a service, or undefined. `constructor` and the like are legal names of none. */
export function handlerIn(service: ServiceSchema, name: string): HandlerSchema | undefined {
  return Object.hasOwn(service.handlers, name) ? service.handlers[name] : undefined;
}

/**
 * Whether a handler of a service is called through the ingress: what the handler declares wins, and
 * a handler that declares nothing follows its service (docs/spec/admin.md#services).
 */
export function isPublic(
  service: Pick<ServiceSchema, "public">,
  handler: Pick<HandlerSchema, "public" | "declaresPublic">,
): boolean {
  return handler.public && (service.public || handler.declaresPublic === true);
}

/** A registered endpoint: its immutable address, its services, and its protocol. */
export interface Deployment {
  readonly id: string;
  /** Absolute URL, ending with a slash when it has no path. Of a function: its ARN. */
  readonly uri: string;
  /**
   * Present when this is a function, called through its cloud
   * (docs/spec/service-protocol.md#functions).
   */
  readonly lambda?: Lambda;
  readonly mode: "bidi" | "requestResponse";
  /** The HTTP version in which discovery was answered: every attempt uses it. */
  readonly httpVersion: "HTTP/1.1" | "HTTP/2.0";
  /** Name spelling this endpoint understands on its wire: see `names.ts`. */
  readonly dialect: Dialect;
  /** Sent with discovery and with every attempt. Lower-case names. */
  readonly additionalHeaders: AdditionalHeaders;
  /** The token that requests carry. Absent: they carry none. */
  readonly identityToken?: IdentityToken;
  readonly metadata: Readonly<Record<string, string>>;
  readonly minProtocol: number;
  readonly maxProtocol: number;
  readonly sdkVersion?: string;
  readonly createdAt: number;
  readonly services: readonly ServiceSchema[];
}

/** How a function of a cloud is called. */
export interface Lambda {
  /** ARN of the role to assume for calls. Absent: the server's own credentials. */
  readonly assumeRoleArn?: string;
}

/** Defaults for options that neither handler nor service sets, from the configuration. */
export interface SchemaDefaults {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly journalRetentionMs: number;
  readonly idempotencyRetentionMs: number;
  readonly workflowRetentionMs: number;
  readonly retry: Required<RetryOptions>;
  /** Names and values sent with `Start`, together; beyond it the map is cut and marked partial. */
  readonly eagerStateBytesMax: number;
  /** A next retry that is further away gives the slots back, in milliseconds. Absent: any. */
  readonly yieldThresholdMs?: number;
  /** Whether handlers may use scopes and limit keys. Absent: they may not. */
  readonly flowControl?: FlowControl;
  /** Absent: anything goes. */
  readonly limits?: SchemaLimits;
}

/** What the experimental settings of the same names allow. */
export interface FlowControl {
  readonly scopes: boolean;
  readonly scopedObjects: boolean;
}

/**
 * Upper limits for the options of handlers, services and defaults (docs/spec/runtimes.md#settings).
 * Absent: no limit.
 */
export interface SchemaLimits {
  readonly journalRetentionMsMax?: number;
  readonly idempotencyRetentionMsMax?: number;
  readonly workflowRetentionMsMax?: number;
  /** Of the retry policy's `maxAttempts`. */
  readonly attemptsMax?: number;
  /** Entries of one journal: beyond it only an output is accepted. */
  readonly journalEntriesMax?: number;
}

/** The effective options of one handler: those of handler, then service, then server. */
export interface EffectiveOptions {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly journalRetentionMs: number;
  readonly idempotencyRetentionMs: number;
  readonly workflowRetentionMs: number;
  readonly lazyState: boolean;
  readonly retry: Required<RetryOptions>;
}

/**
 * All registered deployments, as one immutable snapshot: an input of a turn, like
 * `now`. A registration makes a new snapshot and never changes an old one.
 */
export class Schema {
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly defaults: SchemaDefaults;
  /** What operators have limited and paused. */
  readonly controls: Controls;
  /** The options of an invocation whose handler is not registered any more. */
  readonly orphanOptions: EffectiveOptions;
  readonly #latest = new Map<string, ServiceSchema>();
  readonly #byName = new WeakMap<Deployment, ReadonlyMap<string, ServiceSchema>>();
  readonly #options = new WeakMap<HandlerSchema, EffectiveOptions>();

  constructor(
    deployments: readonly Deployment[],
    defaults: SchemaDefaults,
    controls: Controls = NO_CONTROLS,
  ) {
    this.controls = controls;
    this.deployments = new Map(deployments.map((one) => [one.id, one]));
    this.defaults = defaults;
    this.orphanOptions = resolve(defaults);
    for (const service of deployments.flatMap((one) => one.services)) {
      const known = this.#latest.get(service.name);
      if (!known || known.revision < service.revision) this.#latest.set(service.name, service);
    }
  }

  /** The revision for new invocations, or undefined when no deployment serves this name. */
  latest(service: string): ServiceSchema | undefined {
    return this.#latest.get(service);
  }

  /** The service as one deployment serves it. */
  at(deployment: string, service: string): ServiceSchema | undefined {
    const found = this.deployments.get(deployment);
    if (!found) return undefined;
    let byName = this.#byName.get(found);
    if (!byName) {
      byName = new Map(found.services.map((one) => [one.name, one]));
      this.#byName.set(found, byName);
    }
    return byName.get(service);
  }

  services(): ServiceSchema[] {
    return [...this.#latest.values()];
  }

  /**
   * Resolves the options of one handler, within the limits of the server
   * (docs/spec/service-protocol.md#effective-options).
   */
  options(service: ServiceSchema, handler: HandlerSchema): EffectiveOptions {
    let options = this.#options.get(handler);
    if (!options) {
      options = resolve(this.defaults, service.options, handler.options);
      this.#options.set(handler, options);
    }
    return options;
  }
}

/** Later layers win. Limits apply to all of them, also to the defaults. */
function resolve(defaults: SchemaDefaults, ...layers: readonly HandlerOptions[]): EffectiveOptions {
  const { limits, eagerStateBytesMax: _, ...inherited } = defaults;
  const options: EffectiveOptions = Object.assign({ ...inherited, lazyState: false }, ...layers);
  const retry: Required<RetryOptions> = Object.assign(
    { ...defaults.retry },
    ...layers.map((layer) => layer.retry),
  );
  const attemptsMax = limits?.attemptsMax ?? Infinity;
  return {
    ...options,
    ...clampRetentions(options, limits),
    retry: { ...retry, maxAttempts: Math.min(retry.maxAttempts, attemptsMax) },
  };
}

/** Retentions of result and journal, in milliseconds. */
export type Retentions = Pick<
  EffectiveOptions,
  "journalRetentionMs" | "idempotencyRetentionMs" | "workflowRetentionMs"
>;

/** Retentions as the server allows them (docs/spec/runtimes.md#settings). */
export function clampRetentions(wanted: Retentions, limits: SchemaLimits = {}): Retentions {
  const { journalRetentionMs, idempotencyRetentionMs, workflowRetentionMs } = wanted;
  const {
    journalRetentionMsMax = Infinity,
    idempotencyRetentionMsMax = Infinity,
    workflowRetentionMsMax = Infinity,
  } = limits;
  return {
    journalRetentionMs: Math.min(journalRetentionMs, journalRetentionMsMax),
    idempotencyRetentionMs: Math.min(idempotencyRetentionMs, idempotencyRetentionMsMax),
    workflowRetentionMs: Math.min(workflowRetentionMs, workflowRetentionMsMax),
  };
}

/**
 * How long an invocation stays after its completion, fixed when it is accepted
 * (docs/spec/service-protocol.md#effective-options). With an idempotency key, or for a workflow
 * run, the result has its own retention and the journal never outlives it; otherwise both stay for the
 * retention of the journal.
 */
export function retentionOf(
  options: EffectiveOptions,
  { isWorkflowRun, idempotencyKey }: {
    isWorkflowRun: boolean;
    idempotencyKey?: string | undefined;
  },
): Retention {
  const { journalRetentionMs, idempotencyRetentionMs, workflowRetentionMs } = options;
  if (!isWorkflowRun && idempotencyKey === undefined) {
    return { resultMs: journalRetentionMs, journalMs: journalRetentionMs };
  }
  const resultMs = isWorkflowRun ? workflowRetentionMs : idempotencyRetentionMs;
  return { resultMs, journalMs: Math.min(journalRetentionMs, resultMs) };
}
