import type { AppOptions } from "../../src/app_options.ts";
import type { RequestReader } from "../../src/ingress/request_reader.ts";
import type { Post } from "../libsql/remote/open.ts";
import type { Handler, Listener, ListenOptions } from "../platform/listener.ts";

/** The parts that differ between Node and Deno. */
export interface Runtime {
  /** Serves one port. Rejects when it cannot listen on the address. */
  readonly listen: (options: ListenOptions) => Promise<Listener>;
  readonly reader?: RequestReader;
  /** The module that calls `serve`: other threads of the process run it again. */
  readonly entry: string;
  /** Whether several threads may listen on one port, and the system deals out connections. */
  readonly sharesPorts: boolean;
  /** Whether `listen` counts connections. */
  readonly isCounting?: boolean;
  /** Sends requests to a database server at less cost than `fetch`. */
  readonly post?: Post;
  /** The files of the UI, where they are not those of the last build: in development. */
  readonly ui?: AppOptions["ui"];
  /** Wraps the admin API: Node compresses what it answers. */
  readonly aroundAdmin?: (admin: Handler) => Handler;
}
