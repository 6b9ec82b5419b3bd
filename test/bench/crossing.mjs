// What a request to another thread of the process costs, there and back: its packing, the messages and the
// wake-ups, both threads together, without anything that is done there.
//
//   node test/bench/crossing.mjs [requests a row]
//
// A row for each number of requests that are asked at once: CPU and time of a request, in microseconds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setImmediate } from "node:timers";
import { isMainThread, MessageChannel, Worker, workerData } from "node:worker_threads";
import { bundle } from "./_bundle.mjs";

/** About as much as a call of an object has, and its answer. */
const REQUEST = {
  id: "inv_1dceKvwtEc2n4JLoEBI2ZIvW0SQCT90ITC",
  fresh: true,
  target: {
    service: "Counter",
    handler: "add",
    type: "virtual_object",
    access: "exclusive",
    key: "k1234",
  },
  headers: [{ name: "content-type", value: "application/json" }],
  value: new Uint8Array(16),
  origin: { by: "ingress" },
  retention: { resultMs: 0, journalMs: 86_400_000 },
};
const ANSWER = {
  id: REQUEST.id,
  result: { kind: "value", value: new Uint8Array(16) },
  completedAt: Date.now(),
};
const AT_ONCE = [1, 4, 16, 64];

if (isMainThread) await measure(Number(process.argv[2] ?? 60_000));
else await open(workerData.module, workerData.port, () => Promise.resolve(ANSWER));

/** An end of the port, as the server has it. */
async function open(module, port, serve) {
  const { PortRpc } = await import(module);
  const rpc = new PortRpc({ port, serve, soon: (call) => setImmediate(call), log: console.error });
  port.on("message", (data) => rpc.receive(data));
  return rpc;
}

async function measure(requests) {
  const folder = mkdtempSync(path.join(tmpdir(), "crossing-"));
  const module = bundle("src/placement/port_rpc.ts", folder);
  const { port1, port2 } = new MessageChannel();
  const data = { workerData: { module, port: port2 }, transferList: [port2] };
  const worker = new Worker(new URL(import.meta.url), data);
  const rpc = await open(module, port1, () => Promise.resolve());
  for (const atOnce of AT_ONCE) {
    await ask(rpc, atOnce, requests / 3);
    const began = performance.now(), cpu = process.cpuUsage();
    await ask(rpc, atOnce, requests);
    const { user, system } = process.cpuUsage(cpu);
    const us = (1_000 * (performance.now() - began)) / requests;
    console.log(
      `${atOnce} at once: ${((user + system) / requests).toFixed(0)} us CPU, ${us.toFixed(0)} us`,
    );
  }
  await worker.terminate();
  rmSync(folder, { recursive: true });
  process.exit(0);
}

async function ask(rpc, atOnce, count) {
  let left = count;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left-- > 0) await rpc.ask("call", [3, REQUEST]);
  }));
}
