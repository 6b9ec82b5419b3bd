import process from "node:process";
import { runCli } from "./cli/run.ts";

await runCli(process.argv.slice(2));
