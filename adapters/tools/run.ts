import process from "node:process";
import { type Config, readCommand, readConfig } from "../../src/config.ts";
import { checkTool, type Tool, toolHelp, type ToolName } from "../../src/config/tool_flags.ts";
import { Failure } from "../../src/errors.ts";
import { jsonLog, leastLevel, prettyLog } from "../platform/log.ts";
import type { Post } from "../libsql/remote/open.ts";
import { backup, type BackupValues } from "./backup.ts";
import { Display } from "./display.ts";
import { exportData, importData } from "./dump.ts";
import { reshard, type ReshardValues } from "./reshard.ts";
import { verify } from "./verify.ts";
import type { ToolContext } from "./context.ts";

type Run = (values: Tool["values"], config: Config, context: ToolContext) => Promise<void>;

/** Values were checked when they were read. */
const RUNS: Readonly<Record<ToolName, Run>> = {
  reshard: (values, config, context) =>
    reshard(values as unknown as ReshardValues, config, context),
  export: (values, config, context) => exportData(values, config, context),
  import: (values, config, context) => importData(values, config, context),
  backup: (values, config, context) => backup(values as unknown as BackupValues, config, context),
  verify: (_, config, context) => verify(config, context),
};

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly post: Post | undefined;
  readonly readConfigFile: (file: string) => Promise<string>;
}

/** Runs the tool of the command line. Rejects with `Failure` when it fails. */
export async function runTool(tool: Tool, options: RunOptions): Promise<void> {
  const { env, post, readConfigFile } = options;
  const { name, values, args } = tool;
  const { action, acceptLoss, configFile } = readCommand({ env, args });
  if (action === "help") return void process.stdout.write(toolHelp(name));
  if (action !== "serve" || acceptLoss) {
    throw new Failure("RT0002", `Cannot ${name}: it only takes "--help"`);
  }
  checkTool(tool);
  const file = configFile === undefined ? undefined : await readConfigFile(configFile);
  const config = readConfig({ file, env, args });
  const log = LOGS[config["log-format"]](leastLevel(config["log-filter"], config["log-level"]));
  const display = new Display(name, process.stderr);
  try {
    await RUNS[name](values, config, { log, post, display });
  } catch (cause) {
    display.clear();
    throw named(name, cause);
  }
}

const LOGS = { json: jsonLog, pretty: prettyLog } as const;

/** Errors with a code come from the file system, the network or the database, and explain themselves. */
function named(tool: ToolName, cause: unknown): unknown {
  if (cause instanceof Failure || !(cause instanceof Error && "code" in cause)) return cause;
  return Failure.plain(500, `Cannot ${tool}: ${cause.message}`, { cause });
}
