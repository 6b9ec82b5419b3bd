import { readFile } from "node:fs/promises";
import process from "node:process";
import { createApp } from "../../src/app.ts";
import { checkExposure } from "../../src/auth/exposure.ts";
import type { App } from "../../src/app_options.ts";
import {
  type Config,
  dumpConfig,
  helpText,
  readCommand,
  readConfig,
  warningsOf,
} from "../../src/config.ts";
import { readTool } from "../../src/config/tool_flags.ts";
import type { Fleet } from "../../src/placement/fleet.ts";
import { addressOf, isInFleet } from "../../src/placement/settings.ts";
import { hasAddress } from "../platform/addresses.ts";
import { setV8Flags } from "../platform/v8_flags.ts";
import type { Listener } from "../platform/listener.ts";
import { makePrivate } from "../installation/privacy.ts";
import { openFleet, openHeartbeats } from "./fleet.ts";
import { withGeneratedToken } from "./generated_token.ts";
import { requireDescriptors, watchDescriptors } from "../platform/descriptors.ts";
import { openTls } from "./port_tls.ts";
import { appBasics } from "./app_basics.ts";
import { listenFor, openPorts, type Parts, partsOf, type Wanted } from "./interfaces.ts";
import { logOf } from "./settings_log.ts";
import { ownThreadData, serveThread } from "./thread.ts";
import { Threads } from "./threads.ts";
import { endOnBugs, endOnLoss, endOnSignals, endWhileStarting } from "./process_end.ts";
import type { Runtime } from "./runtime.ts";
import { startSidecar } from "./start_sidecar.ts";
import { reportStartFailure, StartFailure } from "./start_failure.ts";
import { openStorage, type Storage } from "../installation/storage.ts";
import { endThreadAhead } from "../libsql/file/thread_ahead.ts";
import { runTool } from "../tools/run.ts";
import { VERSION } from "../platform/version.ts";
import { databaseSizes } from "../installation/sizes.ts";

/** The process of a server, from its command line to its exit, or a thread of it. Never rejects. */
export async function serve(runtime: Runtime): Promise<void> {
  const data = ownThreadData();
  if (data) return await serveThread(runtime, data);
  const [env, args] = [process.env, process.argv.slice(2)];
  makePrivate();
  setV8Flags();
  // The process that reads our output may have ended. That must not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    const tool = readTool(args);
    if (tool) {
      await runTool(tool, { env, post: runtime.post, readConfigFile });
      process.exit(0);
    }
    const { action, acceptLoss, configFile } = readCommand({ env, args });
    if (action === "help") return void process.stdout.write(helpText());
    if (action === "version") return void process.stdout.write(`perdure ${VERSION}\n`);
    const file = configFile === undefined ? undefined : await readConfigFile(configFile);
    const config = readConfig({ file, env, args });
    if (action === "dumpConfig") return void process.stdout.write(dumpConfig(config));
    await run(runtime, config, acceptLoss);
  } catch (cause) {
    reportStartFailure(cause);
    process.exit(1);
  }
}

async function readConfigFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartFailure("RT0002", `Cannot read the config file "${file}": ${why}`, {
      cause,
      advice: "Name a file that exists and that this user may read (`--config-file`).",
    });
  }
}

/** Opens everything, listens, and installs the handlers of signals. Rejects when it cannot start. */
async function run(runtime: Runtime, settings: Config, acceptLoss: boolean): Promise<void> {
  const log = logOf(settings);
  endOnBugs(log);
  if (settings["auth.mode"] !== "generate") checkExposure(settings, hasAddress);
  const parts = partsOf(log, await openTls(settings, log));
  for (const warning of warningsOf(process.env)) log("warn", "A setting is ignored", { warning });
  const haveStarted = endWhileStarting();
  requireDescriptors(0, "start");
  const { app, fleet, storage, threads } = await wire(runtime, settings, { ...parts, acceptLoss });
  const { config } = storage;
  const wanted = { runtime, config, ...parts };
  const peers = fleet && await listenFor("fleet", { ...wanted, handler: fleet.handler });
  if (peers) await fleet.join(addressOf(config, peers.url));
  const ingress = await listenForCallers({ ...wanted, handler: app.ingress }, threads);
  const handler = runtime.aroundAdmin?.(app.admin) ?? app.admin;
  const admin = await listenFor("admin", { ...wanted, handler });
  await threads.listen(openPorts(config, parts));
  haveStarted();
  watchDescriptors(log);
  const sidecar = await startSidecar(app.kafka, { config, log, adminUrl: admin.url });
  endOnSignals(log, config["shutdown-timeout"], async () => {
    const drainMs = config["ingress.drain-timeout"];
    const closeAdmin = async () => {
      await sidecar?.close();
      app.endWaits();
      await admin.close(drainMs);
    };
    await Promise.all([ingress.close(drainMs), threads.drain(drainMs), closeAdmin()]);
    await fleet?.leave().catch((cause) => {
      log("warn", "Cannot tell the fleet of our end", { cause: String(cause) });
    });
    await peers?.close(0);
    await threads.close();
    await app.close();
    await storage.close();
  });
  process.stdout.write(
    `perdure ${VERSION} is ready: ingress ${ingress.url}, admin ${admin.url}, data ${storage.place}\n`,
  );
}

/** Serves callers, by all threads where they may share the port. Rejects as `listenFor` does. */
async function listenForCallers(wanted: Wanted, threads: Threads): Promise<Listener> {
  const listeners = wanted.runtime.sharesPorts ? threads.count : 1;
  if (listeners > 1) await refuseTaken(wanted);
  return await listenFor("ingress", { ...wanted, listeners });
}

/**
 * A port that threads share may be shared with another process of the same user as well, without an error:
 * so it is tried for this process alone first. Rejects as `listenFor` does.
 */
async function refuseTaken(wanted: Wanted): Promise<void> {
  if (wanted.config["ingress.bind-port"] === 0) return;
  const handler = () => new Response("the server is starting", { status: 503 });
  const listener = await listenFor("ingress", { ...wanted, handler });
  await listener.close(0);
}

interface Wired {
  readonly app: App;
  readonly storage: Storage;
  readonly fleet: Fleet | undefined;
  readonly threads: Threads;
}

/** Opens everything, and makes the app, which does not listen yet. */
async function wire(
  runtime: Runtime,
  settings: Config,
  parts: Parts & { readonly acceptLoss: boolean },
): Promise<Wired> {
  const { log, acceptLoss, tls } = parts;
  const { entry, post } = runtime;
  const isAlone = !isInFleet(settings);
  let fleet: Fleet | undefined;
  const owner = isAlone ? undefined : () => fleet?.id ?? "";
  const threads = new Threads({ entry, config: settings, acceptLoss, log });
  const storage = await openStorage(settings, {
    ...{ log, post, owner, acceptLoss, threads },
    onGone: (failure) => endOnLoss(log, failure),
  });
  await endThreadAhead();
  const { store, partitions, deployments, kafka, audit, sessionKeys, introspection } = storage;
  const config = await withGeneratedToken(storage.config, log);
  checkExposure(config, hasAddress);
  const heartbeats = isAlone ? undefined : await openHeartbeats(config, post);
  const databases = () => databaseSizes(storage.databases);
  const app = await threads.start(createApp({
    ...await appBasics(runtime, config, { ...parts, databases }),
    ...{ store, partitions, kafka, audit, sessionKeys },
    ...threads.appOptions(deployments, introspection),
    ...(heartbeats && {
      fleet: (within) =>
        fleet = openFleet(config, { ...runtime, ...storage, ...within, heartbeats, log, tls }),
    }),
  }));
  return { app, storage, fleet, threads };
}
