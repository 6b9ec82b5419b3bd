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
import { egressOf } from "../../src/outbound/settings.ts";
import { addressOf, isInFleet } from "../../src/placement/settings.ts";
import { hasAddress } from "../platform/addresses.ts";
import { makePrivate } from "../installation/privacy.ts";
import { openFleet } from "./fleet.ts";
import { withGeneratedToken } from "./generated_token.ts";
import { requireDescriptors, watchDescriptors } from "../platform/descriptors.ts";
import { nodeDial } from "../dial/dial.ts";
import { jsonLog, leastLevel, prettyLog } from "../platform/log.ts";
import { clock } from "../platform/clock.ts";
import { random } from "../platform/random.ts";
import { openOutboundTls } from "./tls_settings.ts";
import { openTls } from "./port_tls.ts";
import { countedAs, listenFor, type Parts, partsOf } from "./interfaces.ts";
import { endOnBugs, endOnLoss, endOnSignals, endWhileStarting } from "./process_end.ts";
import type { Runtime } from "./runtime.ts";
import { startSidecar } from "./start_sidecar.ts";
import { reportStartFailure, StartFailure } from "./start_failure.ts";
import { openStorage, type Storage } from "../installation/storage.ts";
import { clientCertificateOf } from "../tls/client_certificate.ts";
import { runTool } from "../tools/run.ts";
import { built } from "../ui/embedded.ts";
import { VERSION } from "../platform/version.ts";
import { databaseSizes } from "../installation/sizes.ts";
import { vitals, watchLoop } from "../platform/vitals.ts";

/** The process of a server, from its command line to its exit. Never rejects. */
export async function serve(runtime: Runtime): Promise<void> {
  const [env, args] = [process.env, process.argv.slice(2)];
  makePrivate();
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

const LOGS = { json: jsonLog, pretty: prettyLog } as const;

/** Opens everything, listens, and installs the handlers of signals. Rejects when it cannot start. */
async function run(runtime: Runtime, settings: Config, acceptLoss: boolean): Promise<void> {
  const least = leastLevel(settings["log-filter"], settings["log-level"]);
  const log = LOGS[settings["log-format"]](least);
  endOnBugs(log);
  if (settings["auth.mode"] !== "generate") checkExposure(settings, hasAddress);
  const tls = await openTls(settings, log);
  for (const warning of warningsOf(process.env)) log("warn", "A setting is ignored", { warning });
  const haveStarted = endWhileStarting();
  requireDescriptors(0, "start");
  const parts = partsOf(log, tls);
  const { app, fleet, storage } = await wire(runtime, settings, { ...parts, acceptLoss });
  const { config } = storage;
  const wanted = { runtime, config, ...parts };
  const peers = fleet && await listenFor("fleet", { ...wanted, handler: fleet.handler });
  if (peers) await fleet.join(addressOf(config, peers.url));
  const ingress = await listenFor("ingress", { ...wanted, handler: app.ingress });
  const operators = runtime.aroundAdmin?.(app.admin) ?? app.admin;
  const admin = await listenFor("admin", { ...wanted, handler: operators });
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
    await Promise.all([ingress.close(drainMs), closeAdmin()]);
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

/** Opens everything, and makes the app, which does not listen yet. */
async function wire(
  runtime: Runtime,
  settings: Config,
  { log, acceptLoss, traffic, own, ports, tls }: Parts & { readonly acceptLoss: boolean },
): Promise<{ readonly app: App; readonly storage: Storage; readonly fleet: Fleet | undefined }> {
  const { reader, post } = runtime;
  const isAlone = !isInFleet(settings);
  let fleet: Fleet | undefined;
  const owner = isAlone ? undefined : () => fleet?.id ?? "";
  const storage = await openStorage(settings, {
    ...{ log, post, owner, acceptLoss },
    onGone: (failure) => endOnLoss(log, failure),
  });
  const { store, partitions, deployments, kafka, audit, sessionKeys, introspection } = storage;
  const config = await withGeneratedToken(storage.config, log);
  checkExposure(config, hasAddress);
  const dial = nodeDial({
    streamsMax: config["worker.invoker.streams-per-connection"],
    idleMs: config["worker.invoker.idle-connection-timeout"],
    connections: countedAs("endpoints", traffic),
    egress: egressOf(config, own),
    tls: await openOutboundTls(config, log),
  });
  const measured = () => ({ ...vitals(traffic), databases: databaseSizes(storage.databases) });
  const app = await createApp({
    platform: { clock, random, log, dial, vitals: measured, watchLoop },
    ...{ config, store, partitions, deployments, kafka, audit, sessionKeys, introspection },
    version: VERSION,
    certificateOf: clientCertificateOf,
    ui: runtime.ui ?? (() => built),
    ingressPort: () => ports.get("ingress"),
    readTextFile: (path) => readFile(path, "utf8"),
    readVariable: (name) => process.env[name],
    ...(reader && { reader }),
    ...(!isAlone && {
      fleet: (within) => fleet = openFleet(config, { ...runtime, ...storage, ...within, log, tls }),
    }),
  });
  return { app, storage, fleet };
}
