import { parseInvocationId } from "./id.ts";

/**
 * The W3C trace an invocation belongs to (Trace Context, level 1). A row has one only when its
 * caller sent one, or when spans are exported.
 */
export interface Trace {
  /** 32 hex digits, the same for everything an invocation calls. */
  readonly id: string;
  /** 16 hex digits: the span that asked for the invocation. */
  readonly parent: string;
  readonly sampled: boolean;
  /** `tracestate` as it came: at most 512 characters. */
  readonly state?: string | undefined;
  /** Whether the invocation is a span of its own (`spanOf`), which its calls and attempts lie under. */
  readonly spans?: true | undefined;
}

/**
 * Vendors must pass on 512 characters (Trace Context, section 3.3.1.5); more would fill every row.
 */
const STATE_CHARACTERS_MAX = 512;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;

/**
 * Reads `traceparent` and `tracestate` (Trace Context, section 3.2). Undefined: none, or none that
 * is valid, and then `tracestate` does not count either. Later versions are read as far as known.
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

/** The span of an invocation: drawn from its id, so that nobody has to keep it. */
export function spanOf(invocation: string): string {
  const span = hex(parseInvocationId(invocation).subarray(8, 16));
  return ZEROS.test(span) ? "0000000000000001" : span;
}

/** The trace of what an invocation calls (docs/spec/service-protocol.md#calls). */
export function childTrace(trace: Trace, caller: string): Trace {
  return trace.spans ? { ...trace, parent: spanOf(caller) } : trace;
}

/** Two lower-case digits for each byte. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}
