import type { Log } from "../../src/ports.ts";
import type { Post } from "../libsql/remote/open.ts";
import type { Display } from "./display.ts";

/** The arguments of a tool besides settings. */
export interface ToolContext {
  readonly log: Log;
  readonly post: Post | undefined;
  /** Shows progress. */
  readonly display: Display;
}
