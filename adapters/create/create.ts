#!/usr/bin/env node
import { readFileSync } from "node:fs";
import process from "node:process";
import { isDeno } from "../platform/command.ts";
import { run } from "./run.ts";

/** The command `create-perdure`, which `npm create perdure` runs. What it writes lies beside it. */
const collected = JSON.parse(readFileSync(new URL("./starters.json", import.meta.url), "utf8"));

process.exitCode = await run(process.argv.slice(2), {
  collected,
  terminal: process.stdin.isTTY && process.stdout.isTTY
    ? { input: process.stdin, output: process.stdout }
    : undefined,
  node: isDeno() ? undefined : process.versions.node,
  say: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
