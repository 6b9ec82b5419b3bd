import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { settingsHelp } from "../../src/config/describe.ts";
import {
  readSidecarConfig,
  type SidecarConfig,
  sidecarOptions,
} from "../../src/config/sidecar_options.ts";
import type { Log } from "../../src/ports.ts";
import { jsonLog, prettyLog } from "../platform/log.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";
import { OwnPorts } from "../../src/outbound/egress/own_ports.ts";
import { machineAddresses } from "../platform/addresses.ts";
import { pinnedFetch } from "../tls/pinned_fetch.ts";
import { VERSION } from "../platform/version.ts";
import { registerCodecs } from "./codecs.ts";
import { patchKafkajs } from "./kafkajs_patches.ts";
import { pause } from "./pause.ts";
import { ServerApi } from "./server_api.ts";
import { KafkaSidecar } from "./sidecar.ts";

const ORPHAN_CHECKS = 10;
const HOST_MAX = 60;

/** The process of a sidecar, from its command line to its exit. Never rejects. */
export async function runSidecar(args: readonly string[]): Promise<void> {
  let config;
  try {
    config = readSidecarConfig(args, process.env);
  } catch (cause) {
    process.stderr.write(`${(cause as Error).message}\n`);
    return process.exit(1);
  }
  if (config.action === "version") return void process.stdout.write(`perdure ${VERSION}\n`);
  if (config.action === "help") return void process.stdout.write(helpText());
  const log = { json: jsonLog, pretty: prettyLog }[config.logFormat](config.logLevel);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  surviveClient(log);
  patchKafkajs();
  registerCodecs();
  await work(config, log);
}

function helpText(): string {
  return `The Kafka sidecar. Its settings:\n\n${settingsHelp(sidecarOptions).join("\n")}\n`;
}

async function work(config: SidecarConfig, log: Log): Promise<void> {
  const isOwn = config.untilOrphanedMs > 0;
  const { servers: urls, token, serverCertificateFile: file } = config;
  const ask = file === "" ? undefined : pinnedFetch(file);
  const server = new ServerApi({ urls, token, isOwn, ask });
  const member = config.member ||
    `${hostname().slice(0, HOST_MAX)}-${process.pid}-${randomBytes(4).toString("hex")}`;
  const tokens = { areCommandsAllowed: config.areTokenCommandsAllowed, egress: egressOf(config) };
  const onServerEnded = () => void stop("its server has ended");
  const sidecar = new KafkaSidecar({ server, member, log, tokens, onServerEnded });
  const stop = async (why: string) => {
    log("info", "The sidecar stops", { why });
    await Promise.race([sidecar.close(), pause(config.shutdownMs, new AbortController().signal)]);
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stop(signal));
  }
  watchServer(server, config.untilOrphanedMs, () => void stop("no server has answered for long"));
  log("info", "The sidecar runs", { version: VERSION, servers: config.servers, member });
  await sidecar.run();
}

/** Where clusters may lie: as endpoints of the servers, whose admin ports are known here. */
function egressOf({ allow, deny, servers }: SidecarConfig): Egress {
  const own = new OwnPorts(machineAddresses);
  for (const { hostname: host, port, protocol } of servers.map((text) => new URL(text))) {
    own.add(host, Number(port || (protocol === "https:" ? 443 : 80)));
  }
  return new Egress({ allow, deny, own });
}

function watchServer(server: ServerApi, withinMs: number, orphaned: () => void): void {
  if (withinMs === 0) return;
  const timer = setInterval(() => {
    if (Date.now() - server.answeredAt < withinMs) return;
    clearInterval(timer);
    orphaned();
  }, Math.max(1, withinMs / ORPHAN_CHECKS));
}

/**
 * kafkajs throws into the event loop what some broken answers make it throw. Offsets and groups are kept
 * by brokers and servers, so that going on loses nothing, while ending would stop all subscriptions.
 */
function surviveClient(log: Log): void {
  let last: string | undefined;
  const survive = (cause: unknown) => {
    const text = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
    if (text !== last) log("error", "The Kafka client threw into the event loop", { cause: text });
    last = text;
  };
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);
}
