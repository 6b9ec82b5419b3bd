import { Failure } from "../errors.ts";
import { BadDuration, parseDuration } from "../model/duration.ts";
import { nearest, unknownName } from "../nearest.ts";
import type { Route } from "./path.ts";

/**
 * The query parameters that ingress reads (docs/spec/ingress.md#headers-and-query). All others are
 * the handler's.
 */
export interface Query {
  /** How long to wait before the invocation starts, in milliseconds. */
  readonly delayMs?: number;
  readonly limitKey?: string;
  /** Not checked yet. */
  readonly priority?: string;
}

const NONE: Query = {};
/** The parameters that calls and sends read. */
const READ = ["delay", "limit-key", "priority"];
/** Characters of a name that are compared with those. */
const NAME_CHARS_MAX = 100;

/**
 * Takes what follows the `?`. Names are matched in any case and the first of each counts. Throws
 * `Failure` 400 for a delay that is no duration.
 */
export function readQuery(query: string): Query {
  if (query === "") return NONE;
  let delay: string | undefined;
  let limitKey: string | undefined;
  let priority: string | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    const lower = name.toLowerCase();
    if (lower === "delay") delay ??= value;
    else if (lower === "limit-key") limitKey ??= value;
    else if (lower === "priority") priority ??= value;
  }
  return {
    ...(delay === undefined ? undefined : { delayMs: parseDelay(delay) }),
    ...(limitKey === undefined ? undefined : { limitKey }),
    ...(priority === undefined ? undefined : { priority }),
  };
}

/**
 * What to warn a caller of: a parameter of a call or send that is nearly one of ours. Others may be
 * the handler's, which sees the whole path. `isStrict`: throws `Failure` 400 for every parameter that
 * the route does not read.
 */
export function checkNames(query: string, { kind }: Route, isStrict: boolean): string | undefined {
  const known = kind === "call" || kind === "send" ? READ : [];
  for (const name of new URLSearchParams(query).keys()) {
    const lower = name.slice(0, NAME_CHARS_MAX).toLowerCase();
    if (known.includes(lower)) continue;
    const text = unknownName("query parameter", lower, known);
    if (isStrict) throw Failure.plain(400, text);
    if (nearest(lower, known).length > 0) return text;
  }
  return undefined;
}

function parseDelay(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    if (!(cause instanceof BadDuration)) throw cause;
    throw Failure.plain(
      400,
      `bad delay query parameter, must be a ISO8601 duration: ${cause.message}`,
      { cause },
    );
  }
}
