import { expect, test } from "vitest";
import { type Peer, Peers } from "../../adapters/workerd/peers.ts";
import type { SessionKeyStore } from "../../src/auth/session_keys.ts";
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
  /** Keys of sessions. */
  let text: string | undefined;
  const at = (partition: number): Peer => ({
    fetch: () => Promise.reject(new Error("unused")),
    deployments: async () => JSON.stringify(await own.load()),
    readSessionKeys: (_, fresh) => Promise.resolve(text ??= fresh),
    replaceSessionKeys: (_, before, after) =>
      Promise.resolve(text = text === before ? after : text ?? ""),
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
  const keysOf = (partition: number, own: SessionKeyStore) =>
    new Peers({ range: { partition, partitions }, at, log }).sessionKeys(own);
  return { own, storeOf, keysOf, known, paused, tellings, deaf, records };
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
  await expect(storeOf(1).save(deployment)).rejects.toThrow(
    "Only the one that has the deployments",
  );
  await expect(storeOf(1).drop(deployment.id)).rejects.toThrow(
    "Only the one that has the deployments",
  );
  await expect(storeOf(1).control({})).rejects.toThrow("Only the one that has the deployments");
});

test("the keys of sessions are those of partition 0", async () => {
  const { keysOf } = installation(2);
  const own: SessionKeyStore = {
    read: () => Promise.resolve("own"),
    replace: () => Promise.resolve("own"),
  };
  expect(await keysOf(0, own).read("x")).toBe("own");
  expect(await keysOf(1, own).read("first")).toBe("first");
  expect(await keysOf(1, own).replace("first", "second")).toBe("second");
});
