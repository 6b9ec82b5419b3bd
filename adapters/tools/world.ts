import type { Log } from "../../src/ports.ts";
import type { Progress } from "../../src/storage/move/installation.ts";
import type { Post } from "../libsql/remote/open.ts";

/** What tools are given besides settings. */
export interface World {
  readonly log: Log;
  readonly post: Post | undefined;
  /** Tells people how far it is. */
  readonly say: (text: string) => void;
}

const EVERY_MS = 1_000;

/** Says how far it is, though not more often than people read. */
export function progress({ say }: World, doing: string): Progress {
  let saidAt = Date.now();
  return (what, rows) => {
    const now = Date.now();
    if (now - saidAt < EVERY_MS) return;
    saidAt = now;
    say(`${doing}: ${what}, ${rows} rows`);
  };
}
