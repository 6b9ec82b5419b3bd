import process from "node:process";
import { runSidecar } from "./kafka/run.ts";

await runSidecar(process.argv.slice(2));
