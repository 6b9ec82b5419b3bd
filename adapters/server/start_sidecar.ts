import process from "node:process";
import { fileURLToPath } from "node:url";
import type { KafkaAdmin } from "../../src/admin/kafka/kafka_admin.ts";
import { type Config, options } from "../../src/config.ts";
import { envNames } from "../../src/names.ts";
import type { Log } from "../../src/ports.ts";
import {
  type Command,
  forbidden,
  isDeno,
  withoutKeys,
  withoutLoader,
} from "../platform/command.ts";
import { shellFile } from "../platform/shell.ts";
import { stopwatch } from "../platform/stopwatch.ts";
import { Sidecar } from "./sidecar.ts";

export interface StartOptions {
  readonly config: Config;
  readonly log: Log;
  /** The address of the admin port. */
  readonly adminUrl: string;
}

/** A sidecar that finds no server for so long ends: its server has been stopped for good. */
const ORPHANED_MS = 60_000;

/**
 * Watches over the sidecar of a server, as `kafka.sidecar` says. Undefined: it is off. Rejects with
 * `Failure` 503 when the store of its token fails.
 */
export async function startSidecar(
  kafka: KafkaAdmin,
  { config, log, adminUrl }: StartOptions,
): Promise<Sidecar | undefined> {
  if (config["kafka.sidecar"] === "off") return undefined;
  const token = await kafka.token();
  const flags = {
    "kafka.servers": fromHere(adminUrl),
    ...(adminUrl.startsWith("https:") && {
      "kafka.server-certificate-file": config["tls.cert-file"],
    }),
    "until-orphaned": String(ORPHANED_MS),
    "kafka.allow-token-commands": String(config["kafka.allow-token-commands"]),
    ...rulesOf(config),
    "log-level": config["log-level"],
    "log-format": config["log-format"],
  };
  const sidecar = new Sidecar({
    command: () => commandOf(flags, token),
    forbidden,
    log,
    stopwatch,
    isWanted: () => kafka.isWanted(),
    isServed: () => kafka.isServed(),
  });
  kafka.subscribe(() => sidecar.changed());
  return sidecar;
}

/** Clusters lie where endpoints may. */
function rulesOf(config: Config): Record<string, string> {
  const names = ["outbound.allow", "outbound.deny"] as const;
  return Object.fromEntries(names.map((name) => [name, options[name].kind.print(config[name])]));
}

/** By the runtime of the server. The token is not shown in the list of processes. */
function commandOf(flags: Readonly<Record<string, string>>, token: string): Command {
  const { url } = import.meta;
  const program = new URL(url.endsWith(".ts") ? "../kafka.ts" : "./kafka.mjs", url);
  const [tokenName = ""] = envNames("kafka.token");
  const given = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const [file, script] = [process.execPath, fileURLToPath(program)];
  const env = { ...withoutKeys(process.env), [tokenName]: token };
  if (!isDeno()) return { file, args: [script, ...given], env };
  const allowed = ["--allow-net", "--allow-env", "--allow-read", "--allow-sys"];
  if (flags["kafka.allow-token-commands"] === "true") {
    allowed.push(`--allow-run=${shellFile()}`);
  }
  const args = ["run", "--no-prompt", ...allowed, script, ...given];
  return { file, args, env: withoutLoader(env) };
}

/** An address for all interfaces is no address to connect to. */
function fromHere(adminUrl: string): string {
  const url = new URL(adminUrl);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.origin;
}
