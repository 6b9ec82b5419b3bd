import process from "node:process";
import type { Log, LogLevel } from "../../src/ports.ts";

const LEVELS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Writes one JSON object a line to standard error; records below `least` are dropped. */
export function jsonLog(least: LogLevel): Log {
  return (level, message, fields) => {
    if (LEVELS[level] < LEVELS[least]) return;
    const record = { time: new Date().toISOString(), level, message, ...fields };
    process.stderr.write(`${JSON.stringify(record)}\n`);
  };
}

/** The same for people: `2026-01-01T00:00:00.000Z WARN  An attempt failed code=RT0010`. */
export function prettyLog(least: LogLevel): Log {
  return (level, message, fields = {}) => {
    if (LEVELS[level] < LEVELS[least]) return;
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [` ${name}=${shown(value)}`]
    );
    const head = `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)} `;
    process.stderr.write(`${head}${message}${pairs.join("")}\n`);
  };
}

/** One word stays as it is, anything else becomes JSON: a record is one line. */
function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(value);
}

const WORDS: Readonly<Record<string, LogLevel>> = {
  trace: "debug",
  debug: "debug",
  info: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
  off: "error",
};

/**
 * The least level of `log-filter` (`warn,target=debug,…`: only parts without a target count, the
 * last of several wins), else `level`.
 */
export function leastLevel(filter: string, level: LogLevel): LogLevel {
  const words = filter.split(",").map((part) => WORDS[part.trim().toLowerCase()]);
  return words.findLast((word) => word !== undefined) ?? level;
}
