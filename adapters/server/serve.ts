import { readFile } from "node:fs/promises";
import process from "node:process";
import { type App, createApp } from "../../src/app.ts";
import {
  type Config,
  dumpConfig,
  helpText,
  readCommand,
  readConfig,
  warningsOf,
} from "../../src/config.ts";
import { readTool } from "../../src/config/tool_flags.ts";
import type { Failure } from "../../src/errors.ts";
import type { RequestReader } from "../../src/ingress/request_reader.ts";
import type { Fleet } from "../../src/placement/fleet.ts";
import { addressOf, isInFleet } from "../../src/placement/settings.ts";
import type { Log } from "../../src/ports.ts";
import { makePrivate } from "../installation/privacy.ts";
import { openFleet } from "./fleet.ts";
import type { Post } from "../libsql/remote/open.ts";
import type { Handler, Listener, ListenOptions } from "../platform/listener.ts";
import { requireDescriptors, watchDescriptors } from "../platform/descriptors.ts";
import { nodeDial } from "../dial/dial.ts";
import { OpenConnections } from "../platform/open_connections.ts";
import { jsonLog, leastLevel, prettyLog } from "../platform/log.ts";
import { clock } from "../platform/clock.ts";
import { random } from "../platform/random.ts";
import { listenFailure, reportStartFailure, StartFailure } from "./start_failure.ts";
import { openStorage, type Storage } from "../installation/storage.ts";
import { runTool } from "../tools/run.ts";
import { VERSION } from "../platform/version.ts";
import { databaseSizes } from "../installation/sizes.ts";
import { vitals, watchLoop } from "../platform/vitals.ts";

/** What Node and Deno do each in their own way. */
export interface Runtime {
  /** Serves one port. Rejects when the address cannot be had. */
  readonly listen: (options: ListenOptions) => Promise<Listener>;
  readonly reader?: RequestReader;
  /** Whether `listen` counts connections. */
  readonly isCounting?: boolean;
  /** A cheaper way than `fetch` to talk to a database server. */
  readonly post?: Post;
  /** Answers operators in front of the admin API: development serves files beside it. */
  readonly aroundAdmin?: (admin: Handler) => Handler;
}

/** The process of a server, from its command line to its exit. Never rejects. */
export async function serve(runtime: Runtime): Promise<void> {
  const [env, args] = [process.env, process.argv.slice(2)];
  makePrivate();
  // Whoever read what we print may be gone. That must not end a server that works.
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

const LOGS = { json: jsonLog, pretty: prettyLog } as const;

/** Opens, wires, listens, and arranges for the end. Rejects when the server cannot start. */
async function run(runtime: Runtime, settings: Config, acceptLoss: boolean): Promise<void> {
  const least = leastLevel(settings["log-filter"], settings["log-level"]);
  const log = LOGS[settings["log-format"]](least);
  endOnBugs(log);
  for (const warning of warningsOf(process.env)) log("warn", "A setting is ignored", { warning });
  const haveStarted = endWhileStarting();
  requireDescriptors(0, "start");
  const traffic: Counted = new Map();
  const { app, fleet, storage } = await wire(runtime, settings, { log, acceptLoss, traffic });
  const { config } = storage;
  const wanted = { runtime, config, log, traffic };
  const peers = fleet && await listenFor("fleet", { ...wanted, handler: fleet.handler });
  if (peers) await fleet.join(addressOf(config, peers.url));
  const ingress = await listenFor("ingress", { ...wanted, handler: app.ingress });
  const operators = runtime.aroundAdmin?.(app.admin) ?? app.admin;
  const admin = await listenFor("admin", { ...wanted, handler: operators });
  haveStarted();
  watchDescriptors(log);
  endOnSignals(log, config["shutdown-timeout"], async () => {
    const drainMs = config["ingress.drain-timeout"];
    await Promise.all([ingress.close(drainMs), admin.close(drainMs)]);
    await fleet?.leave().catch((cause) => {
      log("warn", "Cannot tell the fleet of our end", { cause: String(cause) });
    });
    await peers?.close(0);
    await app.close();
    await storage.close();
  });
  process.stdout.write(
    `perdure ${VERSION} is ready: ingress ${ingress.url}, admin ${admin.url}, data ${storage.place}\n`,
  );
}

/** Opens everything, and makes a server of it that nobody hears yet. */
async function wire(
  runtime: Runtime,
  settings: Config,
  { log, acceptLoss, traffic }: Pick<Wanted, "log" | "traffic"> & { readonly acceptLoss: boolean },
): Promise<{ readonly app: App; readonly storage: Storage; readonly fleet: Fleet | undefined }> {
  const { reader, post } = runtime;
  const isAlone = !isInFleet(settings);
  let fleet: Fleet | undefined;
  const owner = isAlone ? undefined : () => fleet?.id ?? "";
  const storage = await openStorage(settings, {
    ...{ log, post, owner, acceptLoss },
    onGone: (failure) => endOnLoss(log, failure),
  });
  const { config, store, partitions, deployments, introspection } = storage;
  const dial = nodeDial({
    streamsMax: config["worker.invoker.streams-per-connection"],
    idleMs: config["worker.invoker.idle-connection-timeout"],
    connections: countedAs("endpoints", traffic),
  });
  const measured = () => ({ ...vitals(traffic), databases: databaseSizes(storage.databases) });
  const app = await createApp({
    platform: { clock, random, log, dial, vitals: measured, watchLoop },
    ...{ config, store, partitions, deployments, introspection },
    version: VERSION,
    readTextFile: (path) => readFile(path, "utf8"),
    ...(reader && { reader }),
    ...(!isAlone && {
      fleet: (within) => fleet = openFleet(config, { ...runtime, ...storage, ...within, log }),
    }),
  });
  return { app, storage, fleet };
}

interface Wanted {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly log: Log;
  readonly traffic: Counted;
  readonly handler: Handler;
}

async function listenFor(what: "ingress" | "admin" | "fleet", wanted: Wanted): Promise<Listener> {
  const { runtime, config, log, handler, traffic } = wanted;
  const [host, port] = [config[`${what}.bind-address`], config[`${what}.bind-port`]];
  try {
    const open = runtime.isCounting ? countedAs(what, traffic) : undefined;
    return await runtime.listen({ host, port, handler, log, open });
  } catch (cause) {
    throw listenFailure({ host, port, what }, cause);
  }
}

/** The connections of each interface, by its name. */
type Counted = Map<string, OpenConnections>;

function countedAs(what: string, traffic: Counted): OpenConnections {
  const open = new OpenConnections();
  traffic.set(what, open);
  return open;
}

/** 128 and the signal's number, as shells count. */
const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * As long as nobody is served, a signal ends the process at once; the first one of a container would
 * not do so by itself. What is on disk is what a crash leaves. Returns how to stop that.
 */
function endWhileStarting(): () => void {
  const end = (signal: keyof typeof CODES) => process.exit(CODES[signal]);
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => void process.off("SIGINT", end).off("SIGTERM", end);
}

/** The first signal ends the process in order; a second one, or too long a wait, at once. */
function endOnSignals(log: Log, timeoutMs: number, close: () => Promise<void>): void {
  let isEnding = false;
  const end = (signal: keyof typeof CODES) => {
    if (isEnding) process.exit(CODES[signal]);
    isEnding = true;
    log("info", "Stopping", { signal });
    setTimeout(() => {
      log("warn", "Stopped before everything was closed", { timeoutMs });
      process.exit(CODES[signal]);
    }, Math.min(timeoutMs, 2 ** 31 - 1)).unref();
    close().then(() => process.exit(0), (cause) => {
      log("error", "Cannot stop in order", { cause: stackOf(cause) });
      process.exit(1);
    });
  };
  process.on("SIGINT", () => end("SIGINT"));
  process.on("SIGTERM", () => end("SIGTERM"));
}

/** Calls that were acknowledged from now on would be lost with the files they are written to. */
function endOnLoss(log: Log, failure: Failure): never {
  log("error", failure.message, { code: failure.code });
  reportStartFailure(failure);
  process.exit(1);
}

const BUG_CODE = 70;

/**
 * A bug nobody caught ends the process. What is in memory may no longer be what is on disk, and
 * going on could acknowledge what was never written. The rows are the truth (law 3): whoever starts
 * the process again gets a server that derives everything from them.
 */
function endOnBugs(log: Log): void {
  const end = (cause: unknown) => {
    log("error", "Ending because of a bug", { cause: stackOf(cause) });
    process.exit(BUG_CODE);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
