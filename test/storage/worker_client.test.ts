import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { WorkerClient } from "../../adapters/libsql/file/worker_client.ts";

test("a thread that ends rejects what it has not answered, and all that comes later", async () => {
  const script = "require('node:worker_threads').parentPort.once('message', () => process.exit(1))";
  const client = new WorkerClient(new Worker(script, { eval: true }));
  const select = [{ sql: "select 1", args: [] }];
  const asked = [client.batch("read", select), client.batch("write", select)];
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
  await expect(client.batch("read", select)).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
}, 10_000);
