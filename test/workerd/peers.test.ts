import { expect, test } from "vitest";
import { type Peer, Peers } from "../../adapters/workerd/peers.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { MemoryCatalog } from "../support/memory_catalog.ts";
import { deployment } from "../support/schema.ts";

/** A store in memory, and objects that read it again when they are told to. */
function installation(partitions: number) {
  const own = new MemoryCatalog();
  const known = new Map<number, readonly Deployment[]>(), tellings = new Map<number, number>();
  const paused = new Map<number, readonly string[]>();
  /** How often each of them does not answer yet. */
  const deaf = new Map<number, number>();
  const records: string[] = [];
  const at = (partition: number): Peer => ({
    fetch: () => Promise.reject(new Error("unused")),
    deployments: async () => JSON.stringify(await own.load()),
    reload: async () => {
      const tries = (tellings.get(partition) ?? 0) + 1;
      tellings.set(partition, tries);
      if (tries <= (deaf.get(partition) ?? 0)) throw new Error("away");
      const { deployments, controls } = await own.load();
      known.set(partition, deployments);
      paused.set(partition, controls.queues);
    },
  });
  const log = (_: string, message: string) => void records.push(message);
  const storeOf = (partition: number) =>
    new Peers({ range: { partition, partitions }, at, log }).deployments(own);
  return { own, storeOf, known, paused, tellings, deaf, records };
}

test("other objects know a change before its request is answered", async () => {
  const { storeOf, known, paused } = installation(3);
  await storeOf(0).save(deployment);
  expect([...known]).toEqual([[1, [deployment]], [2, [deployment]]]);
  await storeOf(0).drop(deployment.id);
  expect([...known]).toEqual([[1, []], [2, []]]);
  await storeOf(0).control({ queues: new Map([["vq_1", true]]) });
  expect([...paused]).toEqual([[1, ["vq_1"]], [2, ["vq_1"]]]);
});

test("an object that does not answer is told again, and holds up nobody for ever", async () => {
  const { storeOf, known, tellings, deaf, records } = installation(3);
  deaf.set(1, 2).set(2, Infinity);
  await storeOf(0).save(deployment);
  expect(known.get(1)).toEqual([deployment]);
  expect([tellings.get(1), tellings.get(2)]).toEqual([3, 3]);
  expect(records).toEqual(["Cannot tell a partition what is registered"]);
});

test("any other object borrows what is registered, and registers nothing itself", async () => {
  const { own, storeOf } = installation(2);
  await own.save(deployment);
  expect((await storeOf(1).load()).deployments).toEqual([deployment]);
  await expect(storeOf(1).save(deployment)).rejects.toThrow("Only the object of partition 0");
  await expect(storeOf(1).drop(deployment.id)).rejects.toThrow("Only the object of partition 0");
  await expect(storeOf(1).control({})).rejects.toThrow("Only the object of partition 0");
});
