/** Types of `perdure` on Node and Deno. */

export interface ServerOptions {
  /** The command line: settings, such as `["--base-dir", "data"]`. `perdure serve --help` lists them. */
  readonly args?: readonly string[];
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where its log goes: to the standard error of this process (default), or nowhere. */
  readonly log?: "inherit" | "ignore";
}

export interface RunningServer {
  /** Addresses for callers and for operators, such as `http://127.0.0.1:8080`. */
  readonly ingress: string;
  readonly admin: string;
  /** Where its data is. */
  readonly data: string;
  /** Resolves with its exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Stops it in order. Resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a server as a process of its own, by the runtime of this process. It ends with this process.
 * Resolves when it is ready; rejects with `Error` when it ends before, whose reason is in its log.
 */
export function startServer(options?: ServerOptions): Promise<RunningServer>;

/** The version of this package. */
export const VERSION: string;
