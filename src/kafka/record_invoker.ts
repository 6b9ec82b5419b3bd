import type { Origin, Retention } from "../model/invocation.ts";
import type { HeaderPair } from "../model/journal.ts";
import type { IngestRecord, RecordSource } from "../model/kafka.ts";
import type { HandlerSchema, Schema, ServiceSchema } from "../model/schema.ts";
import { readLimitKey, scopeProblem } from "../model/scope.ts";
import type { Target } from "../model/target.ts";
import { parseTrace } from "../model/trace.ts";
import { header, OWN } from "../names.ts";
import type { RequestSpan, Tracer } from "../observe/tracer.ts";
import type { InvocationRequest } from "../ports.ts";
import { type RecordHeaders, recordHeadersOf } from "./record_headers.ts";
import { type RecordId, recordIdsOf } from "./record_id.ts";

/** What the records of a batch have in common, and what is allowed. */
export interface InvokerOptions {
  readonly source: RecordSource;
  readonly schema: Schema;
  readonly service: ServiceSchema;
  readonly handler: HandlerSchema;
  readonly tracer?: Pick<Tracer, "request"> | undefined;
  readonly valueBytesMax: number;
  readonly isScopeRead: boolean;
}

/** A request, with its span if spans are exported; or why there can be none. */
export type Made =
  | { readonly request: InvocationRequest; readonly span: RequestSpan | undefined }
  | { readonly problem: string };

/** Scope and limit key of a record. */
type Scoped = Pick<IngestRecord, "scope" | "limitKey">;

const EMPTY = new Uint8Array(0);
const UNSCOPED: Scoped = { scope: undefined, limitKey: undefined };
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Makes requests of the records of one batch (docs/spec/admin.md#sidecars). */
export class RecordInvoker {
  readonly #options: InvokerOptions;
  readonly #idOf: RecordId;
  readonly #headersOf: RecordHeaders;
  /** Of all records of a sink without keys, unless they have scopes. */
  readonly #target: Target;
  readonly #origin: Origin;
  readonly #retention: Retention;

  constructor(options: InvokerOptions) {
    const { source, schema, service, handler } = options;
    const { journalRetentionMs: ms } = schema.options(service, handler);
    this.#options = options;
    this.#idOf = recordIdsOf(source);
    const dialect = schema.deployments.get(service.deployment)?.dialect ?? OWN;
    this.#headersOf = recordHeadersOf(source, dialect);
    this.#target = this.#newTarget(undefined, undefined);
    this.#origin = { by: "subscription", id: source.subscription };
    this.#retention = { resultMs: ms, journalMs: ms };
  }

  /** The request of a record, which is the same each time but for its trace. */
  requestOf(record: IngestRecord): Made {
    const { valueBytesMax, tracer } = this.#options;
    const { value = EMPTY, offset } = record;
    const key = this.#keyOf(record);
    if (key && "problem" in key) return key;
    const headers = this.#headersOf(record);
    const bytes = value.length + Math.max(0, sizeOf(headers) - HEADERS_FREE);
    if (bytes > valueBytesMax) return { problem: tooLarge(bytes, valueBytesMax) };
    const scoped = this.#scopeOf(record);
    if ("problem" in scoped) return scoped;
    const target = this.#targetOf(key?.key, scoped.scope);
    const { id, fresh } = this.#idOf(offset, {
      ...target,
      isWorkflowRun: target.access === "run",
    });
    const brought = parseTrace(record.traceparent);
    const span = tracer?.request(brought);
    const trace = span ? span.trace : brought;
    const request: InvocationRequest = {
      id,
      fresh,
      target,
      headers,
      value,
      origin: this.#origin,
      retention: this.#retention,
      ...(scoped.limitKey !== undefined && { limitKey: scoped.limitKey }),
      ...(trace && { trace }),
    };
    return { request, span };
  }

  #targetOf(key: string | undefined, scope: string | undefined): Target {
    return key === undefined && scope === undefined ? this.#target : this.#newTarget(key, scope);
  }

  #newTarget(key: string | undefined, scope: string | undefined): Target {
    const { service: { name, type }, handler } = this.#options;
    return {
      service: name,
      handler: handler.name,
      ...(key !== undefined && { key }),
      ...(scope !== undefined && { scope }),
      type,
      access: handler.access,
    };
  }

  /** Undefined: the sink has no keys. */
  #keyOf({ objectKey, key }: IngestRecord): { key: string } | { problem: string } | undefined {
    if (this.#options.handler.access === "none") return undefined;
    try {
      const text = objectKey ?? (key ? decoder.decode(key) : "");
      return text.length > KEY_MAX ? { problem: LONG_KEY } : { key: text };
    } catch {
      return { problem: NO_KEY };
    }
  }

  /** In the words of the reference where it refuses. A limit key that is malformed is none. */
  #scopeOf({ scope, limitKey }: IngestRecord): Scoped | { readonly problem: string } {
    const { isScopeRead, service, schema } = this.#options;
    if (!isScopeRead) return UNSCOPED;
    if (scope === undefined) {
      return limitKey ? { problem: "limit-key requires a scope to be set" } : UNSCOPED;
    }
    const wrong = scopeProblem(scope);
    if (wrong) {
      return { problem: `invalid scope value in ${header(OWN, "scope")} header: ${wrong}` };
    }
    if (service.type === "virtual_object" && !schema.defaults.flowControl?.scopedObjects) {
      return { problem: "scope is not supported for Virtual Object targets" };
    }
    const read = readLimitKey(limitKey ?? "");
    return { scope, limitKey: read && "limitKey" in read ? read.limitKey : undefined };
  }
}

/** Characters of the key of an object or workflow: it is in many rows and indices. */
const KEY_MAX = 64 * 1024;
/** Characters of headers that do not count as bytes of the value. */
const HEADERS_FREE = 64 * 1024;

function sizeOf(headers: readonly HeaderPair[]): number {
  return headers.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
}

const LONG_KEY = `The Kafka record key has more than ${KEY_MAX} characters`;
const NO_KEY = 'The Kafka record key must be valid UTF-8, or have another "key.encoding"';

function tooLarge(bytes: number, bytesMax: number): string {
  return `The Kafka record has ${bytes} bytes: the limit is ${bytesMax} ` +
    '(setting "ingress.request-size-limit")';
}
