import { parseInvocationId } from "./id.ts";

/**
 * The W3C trace an invocation belongs to (Trace Context, level 1). A row has one only when its
 * caller sent one, or when spans are exported.
 */
export interface Trace {
  /** 32 hex digits, the same for all calls of an invocation. */
  readonly id: string;
  /** 16 hex digits: the span of the request. */
  readonly parent: string;
  readonly sampled: boolean;
  /** `tracestate` unchanged: at most 512 characters. */
  readonly state?: string | undefined;
  /** Whether the invocation has a span of its own (`spanOf`), the parent of its calls and attempts. */
  readonly spans?: true | undefined;
}

/**
 * Vendors must pass on 512 characters (Trace Context, section 3.3.1.5); more would fill every row.
 */
const STATE_CHARACTERS_MAX = 512;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;

/**
 * Reads `traceparent` and `tracestate` (Trace Context, section 3.2). Undefined: it is absent or invalid,
 * and then `tracestate` is ignored, too. Of later versions only the known fields are read.
 */
export function parseTrace(parent: string | undefined, state?: string): Trace | undefined {
  if (parent === undefined) return undefined;
  const [, version, id, span, flags, more] = PARENT.exec(parent.trim()) ?? [];
  if (version === undefined || id === undefined || span === undefined) return undefined;
  if (version === "ff" || version === "00" && more !== undefined) return undefined;
  if (ZEROS.test(id) || ZEROS.test(span)) return undefined;
  const sampled = (parseInt(flags ?? "0", 16) & 1) === 1;
  const isShort = state !== undefined && state !== "" && state.length <= STATE_CHARACTERS_MAX;
  return isShort ? { id, parent: span, sampled, state } : { id, parent: span, sampled };
}

/**
 * `traceparent` of version 00; of the flags only whether it is sampled
 * (docs/spec/service-protocol.md#requests).
 */
export function printTrace({ id, parent, sampled }: Trace): string {
  return `00-${id}-${parent}-${sampled ? "01" : "00"}`;
}

/** The span of an invocation: computed from its id, so that it is not stored. */
export function spanOf(invocation: string): string {
  const span = hex(parseInvocationId(invocation).subarray(8, 16));
  return ZEROS.test(span) ? "0000000000000001" : span;
}

/** The trace of the calls of an invocation (docs/spec/service-protocol.md#calls). */
export function childTrace(trace: Trace, caller: string): Trace {
  return trace.spans ? { ...trace, parent: spanOf(caller) } : trace;
}

/** Two lower-case digits for each byte. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}
