import { Failure } from "../errors.ts";
import { BadDuration, parseDuration } from "../model/duration.ts";

/** The query parameters that mean something (http-api §2.6). All others are the handler's. */
export interface Query {
  /** How long to wait before the invocation starts, in milliseconds. */
  readonly delayMs?: number;
  readonly limitKey?: string;
}

const NONE: Query = {};

/**
 * Takes what follows the `?`. Names are matched in any case and the first of each counts. Throws
 * `Failure` 400 for a delay that is no duration.
 */
export function readQuery(query: string): Query {
  if (query === "") return NONE;
  let delay: string | undefined;
  let limitKey: string | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    const lower = name.toLowerCase();
    if (lower === "delay") delay ??= value;
    else if (lower === "limit-key") limitKey ??= value;
  }
  return {
    ...(delay === undefined ? undefined : { delayMs: parseDelay(delay) }),
    ...(limitKey === undefined ? undefined : { limitKey }),
  };
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
