import { createClient } from "@libsql/client/http";
import type { SqlClient } from "../../../src/ports.ts";
import type { RemoteAddress } from "./address.ts";
import { remoteClient } from "./client.ts";

/** Sends one request. Rejects when there is no answer, whatever happened to the request. */
export type Post = (url: string, request: PostRequest) => Promise<HttpResponse>;

export interface PostRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborts when there was no answer for too long. */
  readonly signal: AbortSignal;
}

/** As much of a `Response` as the client of libSQL wants to know. */
export type HttpResponse =
  & Pick<Response, "ok" | "status" | "json" | "text" | "arrayBuffer" | "body">
  & { readonly headers: Pick<Headers, "get"> };

export interface RemoteOptions extends RemoteAddress {
  /** How long a request may take, and 1 s more for each MB of it. 10,000 by default. */
  readonly timeoutMs?: number;
  /** How requests are sent: by `fetch`, unless the platform has something cheaper. */
  readonly post?: Post;
}

/**
 * A libSQL server, by its HTTP protocol. Uses nothing of any runtime. Each batch is one request,
 * and atomic; writes go a few at a time, since servers refuse those that wait for long
 * (docs/spec/storage-layout.md#remote-databases). Batches reject with `RemoteError`, which names
 * the server and never the token. Nothing is repeated here: `isLost` says what may be. Nothing is
 * asked of the server yet.
 */
export function openRemote(options: RemoteOptions): SqlClient {
  return remoteClient(createClient, options);
}
