import { choice, count, flag, optionalText, text } from "./kinds.ts";
import type { EgressRule } from "./egress_rule.ts";
import { readFlags } from "./flags.ts";
import { option } from "./option.ts";
import { outboundOptions } from "./outbound_options.ts";
import { type Environment, readEnvironment, resolveSettings } from "./read.ts";
import { watching } from "./watching.ts";

const URLS = /^https?:\/\/[^\s,]+(,https?:\/\/[^\s,]+)*$/i;

/** Settings of the Kafka sidecar (docs/kafka.md): a process of its own, with a command line of its own. */
export const sidecarOptions = {
  "kafka.servers": option(
    text("addresses of admin ports, with commas between them", URLS),
    "http://127.0.0.1:9070",
    { doc: "Addresses of the admin ports of the servers, of which any will do." },
  ),
  "kafka.server-certificate-file": option(optionalText("the path of a file"), "", {
    doc:
      "The certificate that a server on the same machine shows, as PEM, whatever its name. Empty: " +
      "that of an authority which the system trusts.",
  }),
  "kafka.token": option(optionalText("a text of visible ASCII characters", /^[\x21-\x7e]*$/), "", {
    doc: "The token of the servers.",
    secret: true,
  }),
  "kafka.member": option(optionalText("up to 100 characters", /^.{0,100}$/), "", {
    doc: "The name under which it reports. Empty: the name of the machine and a random one.",
  }),
  "kafka.allow-token-commands": option(flag(), "false", {
    doc: "Whether `sasl.oauthbearer.token.command` may run commands on this machine.",
  }),
  "outbound.allow": outboundOptions["outbound.allow"],
  "outbound.deny": outboundOptions["outbound.deny"],
  "until-orphaned": option(count(0), "0", {
    doc: "It ends after so many milliseconds without an answer of a server. 0: it never does.",
  }),
  "shutdown-timeout": option(count(1), "10000", {
    doc: "How many milliseconds committing and leaving the groups may take.",
  }),
  "log-level": watching["log-level"],
  "log-format": option(choice("json", "pretty"), "json", { doc: watching["log-format"].doc }),
} as const;

/** The settings of a sidecar. */
export interface SidecarConfig {
  readonly servers: readonly string[];
  readonly token: string;
  readonly serverCertificateFile: string;
  readonly member: string;
  readonly areTokenCommandsAllowed: boolean;
  readonly allow: readonly EgressRule[];
  readonly deny: readonly EgressRule[];
  readonly untilOrphanedMs: number;
  readonly shutdownMs: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly logFormat: "json" | "pretty";
}

/** What the command line asks for. */
export type SidecarAction = ReturnType<typeof readFlags>["action"];

/** Reads flags and the environment, the former winning. Throws `Failure` RT0002. */
export function readSidecarConfig(
  args: readonly string[],
  env: Environment,
): SidecarConfig & { readonly action: SidecarAction } {
  const { action, settings } = readFlags(sidecarOptions, args);
  const read = resolveSettings(sidecarOptions, [settings, readEnvironment(sidecarOptions, env)]);
  return {
    action,
    servers: (read["kafka.servers"] as string).split(",").map((url) => url.replace(/\/+$/, "")),
    token: read["kafka.token"] as string,
    serverCertificateFile: read["kafka.server-certificate-file"] as string,
    member: read["kafka.member"] as string,
    areTokenCommandsAllowed: read["kafka.allow-token-commands"] as boolean,
    allow: read["outbound.allow"] as SidecarConfig["allow"],
    deny: read["outbound.deny"] as SidecarConfig["deny"],
    untilOrphanedMs: read["until-orphaned"] as number,
    shutdownMs: read["shutdown-timeout"] as number,
    logLevel: read["log-level"] as SidecarConfig["logLevel"],
    logFormat: read["log-format"] as SidecarConfig["logFormat"],
  };
}
