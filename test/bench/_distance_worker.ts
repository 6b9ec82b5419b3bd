// A distance in a thread of its own: where requests are made and counted, it would come to them late.
import { parentPort, workerData } from "node:worker_threads";
import { Distance } from "../support/distance.ts";

const { target, delayMs } = workerData as { target: string; delayMs: number };
const distance = new Distance({ target: new URL(target), delayMs });
parentPort?.postMessage(await distance.listen());
