#!/usr/bin/env node
import process from "node:process";
import { endWithInput } from "./platform/end_with_input.ts";

/**
 * The command `perdure`. It loads what the command line asks for and nothing else: a server starts as
 * fast as by its own entry, which does not read a parser of arguments for it.
 */
const { url } = import.meta;
const beside = (name: string) =>
  new URL(url.endsWith(".ts") ? `./${name}.ts` : `./${name}.mjs`, url).href;

const HELP = ["-h", "--help", "help", "--json"];
const [first = "serve"] = process.argv.slice(2);
// Settings without a command are those of a server.
const isServer = first === "serve" || first.startsWith("-") && !HELP.includes(first);

if (isServer) {
  if (first === "serve") process.argv.splice(2, 1);
  endWithInput();
  await import(beside(process.versions["deno"] === undefined ? "node" : "deno"));
} else await import(beside("cli"));
