import { expect, test } from "vitest";
import { type Peer, Peers } from "../../adapters/workerd/peers.ts";
import type { Deployment } from "../../src/model/schema.ts";
import type { DeploymentStore } from "../../src/ports.ts";
import { deployment } from "../support/schema.ts";

/** A store in memory, and objects that read it again when they are told to. */
function installation(partitions: number) {
  const saved = new Map<string, Deployment>();
  const own: DeploymentStore = {
    load: () => Promise.resolve([...saved.values()]),
    save: (one) => Promise.resolve(void saved.set(one.id, one)),
    drop: (id) => Promise.resolve(void saved.delete(id)),
  };
  const known = new Map<number, readonly Deployment[]>(), tellings = new Map<number, number>();
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
      known.set(partition, await own.load());
    },
  });
  const log = (_: string, message: string) => void records.push(message);
  const storeOf = (partition: number) =>
    new Peers({ range: { partition, partitions }, at, log }).deployments(own);
  return { own, storeOf, known, tellings, deaf, records };
}

test("other objects know a registration before its request is answered", async () => {
  const { storeOf, known } = installation(3);
  await storeOf(0).save(deployment);
  expect([...known]).toEqual([[1, [deployment]], [2, [deployment]]]);
  await storeOf(0).drop(deployment.id);
  expect([...known]).toEqual([[1, []], [2, []]]);
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
  expect(await storeOf(1).load()).toEqual([deployment]);
  await expect(storeOf(1).save(deployment)).rejects.toThrow("Only the object of partition 0");
  await expect(storeOf(1).drop(deployment.id)).rejects.toThrow("Only the object of partition 0");
});
