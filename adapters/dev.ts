import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `deno task dev`: runs the server, and again whenever a source of it changes. Its arguments are
 * those of the `deno` that is the server.
 *
 * A process of its own each time, and not `deno run --watch`, which runs the module again in the
 * same one: what a start that failed had opened by then, the lock of the data folder above all,
 * would stay open for as long as the watcher runs (decision 030).
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** A change there is nothing to the server: it serves what the build of the UI writes. */
const UI = path.join(ROOT, "src", "ui", path.sep);
const BUILD = path.join(ROOT, "adapters", "ui", "build.mjs");
/** An editor that saves writes, renames and removes; one start is enough for all of it. */
const QUIET_MS = 100;
/** Time to stop in order. Then it is killed, which must never lose data anyway. */
const STOP_MS = 10_000;

interface Server {
  /** Lets it stop in order. Resolves when it is gone. */
  stop(): Promise<void>;
}

function start(): Server {
  const child = new Deno.Command(Deno.execPath(), {
    args: Deno.args,
    stdin: "piped",
    // Ctrl-C reaches this process alone, which passes it on: a second signal ends the server at once.
    detached: true,
  }).spawn();
  let isStopping = false;
  child.status.then(({ code, signal }) => {
    if (!isStopping) say(`The server ended (${signal ?? code}). A change starts it again`);
  });
  return {
    async stop() {
      isStopping = true;
      // The server reads until this end is closed, so it also stops when this process is killed.
      await child.stdin.close().catch(() => {});
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await child.status;
      clearTimeout(timer);
    },
  };
}

function say(text: string): void {
  console.error(`dev: ${text}`);
}

/** Builds the UI. What is wrong with it is printed, and the last build that worked stays. */
async function buildUi(): Promise<void> {
  const args = ["run", "--allow-all", BUILD];
  await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).spawn().status;
}

await buildUi();
let server = start();
/** One after the other: the next server wants the ports and the folder of the one before. */
let restarts = Promise.resolve();

function restart(): void {
  restarts = restarts.then(async () => {
    await server.stop();
    server = start();
  });
}

let isEnding = false;

function end(): void {
  if (isEnding) Deno.exit(130);
  isEnding = true;
  restarts.then(() => server.stop()).then(() => Deno.exit(0));
}

Deno.addSignalListener("SIGINT", end);
// On Windows Deno refuses to listen for it: there is none.
if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", end);

/** Work that a change asks for, once it has been quiet for a while. */
function after(work: (file: string) => void): (file: string) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (file) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      say(`${file.slice(ROOT.length)} changed`);
      work(file);
    }, QUIET_MS);
  };
}

const sourceChanged = after(restart);
const uiChanged = after(() => void (restarts = restarts.then(buildUi)));
for await (
  const { kind, paths } of Deno.watchFs([path.join(ROOT, "src"), path.join(ROOT, "adapters")])
) {
  if (kind === "access" || isEnding) continue;
  const source = paths.find((file) => file.endsWith(".ts") && !file.startsWith(UI));
  if (source !== undefined) sourceChanged(source);
  const page = paths.find((file) => file.startsWith(UI) && /\.(tsx?|css|html|svg)$/.test(file));
  if (page !== undefined) uiChanged(page);
}
