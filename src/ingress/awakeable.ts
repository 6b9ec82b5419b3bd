import { Failure } from "../errors.ts";
import { parseAwakeableId } from "../model/awakeable.ts";
import type { SignalResult } from "../model/command.ts";
import { BadId } from "../model/id.ts";
import { accepted } from "./response.ts";
import { readBody } from "./body.ts";
import type { Inbound, Setup } from "./inbound.ts";
import type { AwakeableRoute } from "./path.ts";

/**
 * The highest of the signals that are built in, such as cancel
 * (docs/spec/service-protocol.md#values).
 */
const BUILT_IN_MAX = 15;

/**
 * Completes an awakeable, and answers as soon as that is durable: with 202 also when it was
 * completed before or no invocation waits for it (docs/spec/ingress.md#awakeables). Throws
 * `Failure`.
 */
export async function completeAwakeable(
  setup: Setup,
  inbound: Inbound,
  { id, verb }: AwakeableRoute,
): Promise<Response> {
  const awakeable = parseId(id);
  const bytes = await readBody(setup, inbound);
  // Ids of the oldest protocols name invocations that cannot be here, so none waits. No SDK makes
  // an awakeable of a built-in signal: completing one would cancel an invocation, which only an
  // operator may.
  if (awakeable && awakeable.index > BUILT_IN_MAX) {
    const { target, index } = awakeable;
    const result = verb === "resolve" ? { kind: "value", value: bytes } as const : rejection(bytes);
    await setup.invocations.signal({ target, id: { kind: "signal", index }, result });
  }
  return accepted(inbound.caller);
}

function parseId(id: string): ReturnType<typeof parseAwakeableId> {
  try {
    return parseAwakeableId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw Failure.plain(400, `bad awakeable id '${id}': ${cause.message}`, { cause });
  }
}

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** The body says why, in text; what is not UTF-8 in it is replaced. */
function rejection(bytes: Uint8Array): SignalResult {
  return { kind: "failure", failure: { code: 500, message: lenient.decode(bytes) } };
}
