import type { SqlClient } from "../../../src/ports.ts";
import type { RemoteAddress } from "./address.ts";
import { remoteClient } from "./client.ts";

/** Sends one request. Rejects when there is no response: the request may have been applied. */
export type Post = (url: string, request: PostRequest) => Promise<HttpResponse>;

export interface PostRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborts when the timeout is over. */
  readonly signal: AbortSignal;
}

/** The part of a `Response` that the client of libSQL uses. */
export type HttpResponse =
  & Pick<Response, "ok" | "status" | "json" | "text" | "arrayBuffer" | "body">
  & { readonly headers: Pick<Headers, "get"> };

export interface RemoteOptions extends RemoteAddress {
  /** How long a request may take, and 1 s more for each MB of it. 10,000 by default. */
  readonly timeoutMs?: number;
  /** How requests are sent. Absent: by `fetch`. */
  readonly post?: Post;
}

/**
 * A client of a libSQL server, over its HTTP protocol, for every runtime. Each batch is one request,
 * and atomic; a few writes are in flight at once, since servers refuse those that wait for long
 * (docs/spec/storage-layout.md#remote-databases). Batches reject with `RemoteError`, which names
 * the server and never the token. Nothing is retried here: `isLost` tells which batches may be. This
 * sends no request yet.
 */
export async function openRemote(options: RemoteOptions): Promise<SqlClient> {
  // Loaded when it is needed: loading takes longer than a file takes to open.
  const { createClient } = await import("@libsql/client/http");
  return remoteClient(createClient, options);
}
