import type { Log } from "../../src/ports.ts";
import type { Post } from "../libsql/remote/open.ts";
import type { Display } from "./display.ts";

/** What tools are given besides settings. */
export interface ToolContext {
  readonly log: Log;
  readonly post: Post | undefined;
  /** Tells people how far it is. */
  readonly display: Display;
}
