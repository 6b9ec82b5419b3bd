import type { OnLeave, PartitionClient } from "../ports.ts";
import { AskingClient } from "./asking_client.ts";
import { Failure, Untaken } from "../errors.ts";
import { pack, unpack } from "./codec.ts";
import { decodeFailure, type PeerResponse } from "./peer_response.ts";

/** Makes one request, as `fetch` does. Rejects with `NotSent` if no process received it. */
export type Post = (url: string, request: PostRequest) => Promise<Posted>;

export interface PostRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

export type Posted = Pick<Response, "status" | "arrayBuffer">;

/** There was no connection, so the request was not sent. */
export class NotSent extends Error {
  override name = "NotSent";
}

/**
 * There was no connection, because this process does not accept the certificate of the other one. The
 * message says why, and which setting to change.
 */
export class Untrusted extends NotSent {
  override name = "Untrusted";
}

/** How the members of a fleet send requests to each other. */
export interface PeerTransport {
  readonly post: Post;
  /** The secret of the fleet, which every request carries. */
  readonly secret: string;
}

/** The transport to one member. */
export interface RemoteOptions extends PeerTransport {
  /** `http://host:port`. */
  readonly address: string;
}

/** The headers of every request to another member. */
export function headersOf({ secret }: Pick<PeerTransport, "secret">): Record<string, string> {
  return { authorization: `Bearer ${secret}`, "content-type": "application/octet-stream" };
}

/**
 * The client of a partition in another process. Rejects with `Untaken` when the request certainly
 * failed, with the failure of the partition's response, or with `ambiguous`.
 */
export class RemotePartitionClient extends AskingClient {
  readonly #options: RemoteOptions;
  readonly #path: string;
  readonly #pending = new Set<AbortController>();
  #isGone = false;

  constructor(options: RemoteOptions, partition: number) {
    super();
    this.#options = options;
    this.#path = `${options.address}/partitions/${partition}`;
  }

  /** The partition has moved: aborts pending requests, and rejects later ones with `Untaken`. */
  close(): void {
    this.#isGone = true;
    for (const pending of this.#pending) pending.abort();
  }

  protected override async ask<T>(
    method: keyof PartitionClient,
    args: readonly unknown[],
    onLeave?: OnLeave,
  ): Promise<T> {
    if (this.#isGone) throw new Untaken("the partition has moved");
    const controller = new AbortController();
    let hasLeft = false;
    onLeave?.(() => {
      hasLeft = true;
      controller.abort();
    });
    this.#pending.add(controller);
    try {
      return await this.#post(method, args, controller.signal);
    } catch (cause) {
      if (hasLeft) throw Failure.plain(499, "the caller went away");
      throw cause;
    } finally {
      this.#pending.delete(controller);
    }
  }

  async #post<T>(method: string, args: readonly unknown[], signal: AbortSignal): Promise<T> {
    const { post } = this.#options;
    let answer: PeerResponse;
    try {
      const request = {
        method: "POST",
        headers: headersOf(this.#options),
        body: pack(args),
        signal,
      } as const;
      const posted = await post(`${this.#path}/${method}`, request);
      const body = new Uint8Array(await posted.arrayBuffer());
      if (posted.status !== 200) throw refusalOf(posted.status);
      answer = unpack(body) as PeerResponse;
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      if (cause instanceof NotSent) {
        throw new Untaken("the process that has the partition cannot be reached", { cause });
      }
      throw ambiguous(cause);
    }
    if (answer.failure) throw decodeFailure(answer.failure);
    return answer.value as T;
  }
}

/** The failure of a request that may or may not have been applied. */
export function ambiguous(cause?: unknown): Failure {
  return Failure.plain(
    503,
    "the partition is not available right now; repeating is safe only with an idempotency key",
    { cause },
  );
}

/** Statuses by which another process refuses a request before it is applied. */
const UNTAKEN: ReadonlyMap<number, string> = new Map([
  [401, "the processes of this fleet do not have the same secret"],
  [403, "the processes of this fleet do not have the same secret"],
  [404, "the process at that address does not know partitions"],
  [421, "the partition has moved"],
]);

function refusalOf(status: number): Failure {
  const message = UNTAKEN.get(status);
  if (message !== undefined) return new Untaken(message);
  if (status === 413) return Failure.plain(413, "the request is too large for another process");
  return ambiguous(new Error(`the other process answered ${status}`));
}
