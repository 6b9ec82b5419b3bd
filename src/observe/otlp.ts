/** One span, ready to be exported. Times in milliseconds since the epoch. */
export interface Span {
  /** 32 and 16 hex digits. */
  readonly trace: string;
  readonly id: string;
  readonly parent?: string | undefined;
  /** `tracestate`. */
  readonly state?: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Attributes;
}

/** Attributes. Undefined ones are omitted. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Span kinds as numbers of OTLP. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** The body of an export request: OTLP 1.x in JSON (opentelemetry.proto.collector.trace.v1). */
export function otlpJson(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: { attributes: pairs(resource) },
      scopeSpans: [{
        scope: { name: "perdure", version: resource["service.version"] },
        spans: spans.map(toJson),
      }],
    }],
  });
}

function toJson({ trace, id, parent, state, name, kind, ...span }: Span): unknown {
  return {
    traceId: trace,
    spanId: id,
    parentSpanId: parent,
    traceState: state,
    flags: 1,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(span.startMs),
    endTimeUnixNano: nanos(Math.max(span.startMs, span.endMs)),
    attributes: pairs(span.attributes),
    status: span.isError ? { code: STATUS_ERROR } : {},
  };
}

/** Nanoseconds as text, because they exceed the safe integers of JSON. */
function nanos(ms: number): string {
  return `${Math.floor(ms)}000000`;
}

function pairs(attributes: Attributes): unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{
      key,
      value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
    }];
  });
}
