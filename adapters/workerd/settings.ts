import { authSettings, isClosed } from "../../src/auth/settings.ts";
import { type Config, readConfig, warningsOf } from "../../src/config.ts";
import { text } from "../../src/config/kinds.ts";
import { option } from "../../src/config/option.ts";
import { readEnvironment, resolveSettings } from "../../src/config/read.ts";
import { Failure } from "../../src/errors.ts";
import { namedPartitions } from "../../src/placement/settings.ts";
import { DURABLE_VALUE_BYTES_MAX } from "./durable_sqlite.ts";

/** Bindings of a Worker. Settings are those that are text. */
export type Bindings = Readonly<Record<string, unknown>>;

/** Defaults that differ from those of a process: a row has 2 MB at most, an isolate 128 MB. */
const DEFAULTS = `
ingress.request-size-limit = "1MiB"
admin.request-size-limit = "1MiB"
worker.invoker.message-size-limit = "1536KiB"
worker.invoker.eager-state-size-limit = "8MiB"
worker.invoker.unacknowledged-bytes-limit = "1MiB"
worker.invoker.concurrent-invocations-limit = 100
partition.resident-bytes-max = "16MiB"
storage.fold-bytes = "1MiB"
admin.query-engine.result-size = "16MiB"
# A name that is not a route of the Worker does not reach it.
admin.allowed-hosts = ["*"]
# Cloudflare sets it. An isolate does not know connections.
auth.client-address-header = "cf-connecting-ip"
`;

const LIMITED = ["ingress.request-size-limit", "worker.invoker.message-size-limit"] as const;

/** The settings of a partition. Throws `Failure` RT0002, also for limits that exceed a row. */
export function partitionConfig(bindings: Bindings): Config {
  const config = readConfig({ file: DEFAULTS, env: environmentOf(bindings) });
  if (config["storage.encryption-key"] !== "" || config["storage.encryption-key-file"] !== "") {
    const why = "a Durable Object is encrypted by its platform";
    throw new Failure("RT0002", `Cannot use "storage.encryption-key": ${why}`);
  }
  for (const name of LIMITED) {
    if (config[name] <= DURABLE_VALUE_BYTES_MAX) continue;
    throw new Failure(
      "RT0002",
      `Cannot use "${name}": a Durable Object stores ${DURABLE_VALUE_BYTES_MAX} bytes at most`,
    );
  }
  return config;
}

/** Settings of a Worker only, which serves callers and operators at one address. */
const options = {
  "admin.path-prefix": option(text("a path such as /admin", /^(\/[\w.~-]+)+$/), "/admin", {
    doc: "Requests below this path go to the admin API, without it. All others are for callers.",
  }),
};

export interface WorkerSettings {
  readonly adminPrefix: string;
  /** Whether operators need a token. */
  readonly needsToken: boolean;
  /** The token that may do everything. Empty: there is none. */
  readonly adminToken: string;
  readonly partitions: number;
}

/** The settings of the Worker in front. Throws `Failure` RT0002. */
export function workerSettings(bindings: Bindings): WorkerSettings {
  const settled = resolveSettings(options, [readEnvironment(options, environmentOf(bindings))]);
  const config = partitionConfig(bindings);
  return {
    adminPrefix: settled["admin.path-prefix"] as string,
    needsToken: isClosed(authSettings(config)).admin,
    adminToken: config["admin.token"],
    partitions: namedPartitions(config),
  };
}

/** Warnings: one sentence for each variable that looks like a setting and is none. */
export function warningsFor(bindings: Bindings): string[] {
  return warningsOf(environmentOf(bindings), Object.keys(options));
}

/** A binding that is text: a variable, or a secret. */
export function textOf(bindings: Bindings, name: string): string | undefined {
  const value = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function environmentOf(bindings: Bindings): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(bindings)) {
    if (typeof value === "string") texts[name] = value;
    // A variable in `wrangler.toml` may be a number or a flag.
    else if (typeof value === "number" || typeof value === "boolean") texts[name] = String(value);
  }
  return texts;
}
