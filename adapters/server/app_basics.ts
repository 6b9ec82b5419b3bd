import { readFile } from "node:fs/promises";
import process from "node:process";
import type { AppOptions } from "../../src/app_options.ts";
import type { Config } from "../../src/config.ts";
import { egressOf } from "../../src/outbound/settings.ts";
import type { Vitals } from "../../src/vitals.ts";
import { nodeDial } from "../dial/dial.ts";
import { clock } from "../platform/clock.ts";
import { random } from "../platform/random.ts";
import { VERSION } from "../platform/version.ts";
import { vitals, watchLoop } from "../platform/vitals.ts";
import { clientCertificateOf } from "../tls/client_certificate.ts";
import { built } from "../ui/embedded.ts";
import { countedAs, type Parts } from "./interfaces.ts";
import type { Runtime } from "./runtime.ts";
import { openOutboundTls } from "./tls_settings.ts";

type Basics =
  & Pick<AppOptions, "platform" | "config" | "version" | "certificateOf" | "ui" | "ingressPort">
  & Pick<AppOptions, "readTextFile" | "readVariable" | "reader">;

/**
 * What the app of a process, or of one of its threads, is made of beside its rows. `databases`: sizes of
 * those that this thread tells of. Rejects with `Failure` RT0002 when a file of the settings cannot be read.
 */
export async function appBasics(
  runtime: Runtime,
  config: Config,
  { log, traffic, own, ports, databases }: Parts & {
    readonly databases?: () => Vitals["databases"];
  },
): Promise<Basics> {
  const dial = nodeDial({
    streamsMax: config["worker.invoker.streams-per-connection"],
    idleMs: config["worker.invoker.idle-connection-timeout"],
    connections: countedAs("endpoints", traffic),
    egress: egressOf(config, own),
    tls: await openOutboundTls(config, log),
  });
  const measured = () => ({ ...vitals(traffic), databases: databases?.() });
  const { reader } = runtime;
  return {
    platform: { clock, random, log, dial, vitals: measured, watchLoop },
    config,
    version: VERSION,
    certificateOf: clientCertificateOf,
    ui: runtime.ui ?? (() => built),
    ingressPort: () => ports.get("ingress"),
    readTextFile: (path) => readFile(path, "utf8"),
    readVariable: (name) => process.env[name],
    ...(reader && { reader }),
  };
}
