import type { CallRequest } from "../../src/model/command.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import type { NotificationResult, TerminalFailure } from "../../src/model/journal.ts";
import type { Program, Stumble } from "./program.ts";
import { targetOf } from "./schema.ts";
import { textOf, toBytes } from "./spoken.ts";

/** What a handler asks of the stream it runs on before it can go on. */
export type Ask =
  /** That this is over, or that a cancel came. */
  | { readonly kind: "await"; readonly tree: Awaiting; readonly isCancelable: boolean }
  /** Time for a side effect. */
  | { readonly kind: "work" };

/** A retryable failure of the user's code. */
export class Stumbled extends Error {
  readonly how: Stumble;

  constructor(how: Stumble) {
    super(how);
    this.how = how;
  }
}

/** The journal that was replayed is not what this handler said before. */
export class Diverged extends Error {}

/** A cancel came where the handler waited. */
export class Canceled extends Error {}

/** What a handler ends with that does not catch its cancel. */
export const CANCELED: TerminalFailure = { code: 409, message: "Cancelled" };

/** A request to another handler, its program inside. */
export function asked(to: string, program: Program, idempotencyKey?: string): CallRequest {
  const { service, handler, key } = targetOf(to);
  const head = { service, handler, key: key ?? "", headers: [], value: toBytes(program) };
  return idempotencyKey === undefined ? head : { ...head, idempotencyKey };
}

/** The terminal failure of a handler that learned this. */
export function failure(digest: string): TerminalFailure {
  return { code: 418, message: digest };
}

/** A result that `JSON.stringify` can show. */
export function plain(result: NotificationResult): object {
  return result.kind === "value" ? { result: textOf(result.value) } : result;
}

/** Short and stable; nobody attacks a simulation. */
export function hash(text: string): string {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h >>> 0).toString(36);
}
