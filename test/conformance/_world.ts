import type { Endpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";

/** What is tested: something with two addresses that can be started again on the same rows. */
export type Subject = Pick<
  Server,
  | "ingress"
  | "admin"
  | "start"
  | "stop"
  | "crash"
  | "signal"
  | "rival"
  | "said"
  | "logs"
  | "isAlive"
  | "close"
>;

/** A server and an endpoint, registered. */
export interface World {
  readonly server: Subject;
  readonly endpoint: Endpoint;
  /** A name no other test has: of an object, a side effect, a person to greet. */
  readonly id: string;
}

/** What the server promises, by name. A check throws when the promise is broken. */
export type Promises = Readonly<Record<string, Check>>;

export type Check = (world: World) => Promise<void>;

/** The invocation that an answer to a one-way call names. Throws unless it was accepted. */
export function idOf(
  { status, body }: { readonly status: number; readonly body: unknown },
): string {
  const { invocationId } = (body ?? {}) as { readonly invocationId?: string };
  if (status === 202 && invocationId !== undefined) return invocationId;
  throw new Error(`The request was answered with ${status}: ${JSON.stringify(body)}`);
}
