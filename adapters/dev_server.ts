import process from "node:process";
import { fileURLToPath } from "node:url";
import type { UiFiles } from "../src/admin/ui_files.ts";
import { listen } from "./deno/listen.ts";
import { serve } from "./server/serve.ts";

/** The server that `dev.ts` runs: the one of `deno.ts`, with the UI as the newest build wrote it. */
const BUILT = new URL("../dist/ui_assets.ts", import.meta.url);

/** Loads the module anew after each build: its name has the time of the build in it. */
async function newest(): Promise<UiFiles> {
  const { mtime } = await Deno.stat(fileURLToPath(BUILT));
  const { built } = await import(`${BUILT}?${mtime?.getTime()}`);
  return built;
}

/** Stops in order when the other end of the pipe is closed: by `dev.ts`, or because it died. */
async function endWithParent(): Promise<void> {
  await Deno.stdin.readable.pipeTo(new WritableStream()).catch(() => {});
  if (!process.emit("SIGTERM", "SIGTERM")) process.exit(0);
}

void endWithParent();
await serve({ listen, ui: newest });
