import type { Config } from "../../src/config.ts";
import type { Log } from "../../src/ports.ts";
import { jsonLog, leastLevel, prettyLog } from "../platform/log.ts";

const LOGS = { json: jsonLog, pretty: prettyLog } as const;

/** The log of the settings. */
export function logOf(settings: Config): Log {
  const least = leastLevel(settings["log-filter"], settings["log-level"]);
  return LOGS[settings["log-format"]](least);
}
