import { expect, test, vi } from "vitest";
import { Untaken } from "../../src/errors.ts";
import type { Write } from "../../src/model/rows.ts";
import type { InvocationRequest, Lease } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { hostWith, idleAttempts } from "./_host.ts";
import { invoked } from "./_invoked.ts";

function request(): InvocationRequest {
  const { type: _, ...rest } = invoked(0);
  return rest;
}

/** A store whose commits take until they are let through. */
class Slow extends MemoryStore {
  readonly commits: number[] = [];
  gate: Promise<void> = Promise.resolve();

  override async commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    this.commits.push(writes.length);
    await super.commit(lease, writes);
    await this.gate;
  }
}

/** One process of a fleet, as a partition sees it. */
function memberOver(store: Slow) {
  const member = { isHeld: true, isFenced: 0, started: [] as string[] };
  const host = hostWith({
    store,
    attempts: idleAttempts(member.started),
    isHeld: () => member.isHeld,
    onFenced: () => member.isFenced++,
  });
  return Object.assign(member, { host, client: host.partitionClient });
}

test("while the lease may be lost, no request is taken", async () => {
  const member = memberOver(new Slow());
  await expect(member.client.send(request())).rejects.toBeInstanceOf(Untaken);
  await member.host.open();
  await member.client.send(request());
  member.isHeld = false;
  await expect(member.client.send(request())).rejects.toBeInstanceOf(Untaken);
  member.isHeld = true;
  await member.client.send(request());
  member.host.close();
});

test("an answer from memory is released only after the store has confirmed the lease", async () => {
  const store = new Slow();
  const member = memberOver(store);
  await member.host.open();
  const { id } = await member.client.send(request());
  await vi.waitFor(() => expect(member.started).toEqual([id]));
  store.commits.length = 0;
  expect(await member.client.output(id)).toBe("notReady");
  expect(store.commits).toEqual([]);
  const asked = member.client.output(id);
  member.isHeld = false;
  expect(await asked).toBe("notReady");
  // Before and after the confirmation, since the process may have been suspended meanwhile.
  expect(store.commits).toEqual([0, 0]);
  await expect(member.client.output(id)).rejects.toBeInstanceOf(Untaken);

  member.isHeld = true;
  const pending = member.client.output(id).catch((cause) => cause);
  member.isHeld = false;
  await store.claim(0);
  expect((await pending).status).toBe(503);
  expect(await pending).not.toBeInstanceOf(Untaken);
  expect(member.isFenced).toBe(1);
});

test("a process that was suspended after a commit does not start its attempt", async () => {
  const store = new Slow();
  const member = memberOver(store);
  await member.host.open();
  let thaw = () => {};
  store.gate = new Promise((resolve) => thaw = resolve);
  const sent = member.client.send(request()).catch((cause) => cause);
  await vi.waitFor(() => expect(store.commits.length).toBe(1));
  member.isHeld = false;
  await store.claim(0);
  thaw();
  expect((await sent).status).toBe(503);
  expect([member.started, member.isFenced]).toEqual([[], 1]);
});

test("a process that lost the partition does not claim it again, and takes no requests", async () => {
  const store = new Slow();
  const member = memberOver(store);
  await member.host.open();
  const rival = await store.claim(0);
  await expect(member.client.send(request())).rejects.toMatchObject({ status: 503 });
  expect(member.isFenced).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await store.commit(rival, []);
  await expect(member.client.send(request())).rejects.toBeInstanceOf(Untaken);
});
