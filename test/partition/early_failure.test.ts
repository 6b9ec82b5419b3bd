import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import type { Lease, Mailbox } from "../../src/ports.ts";
import type { Scan, ScanRow } from "../../src/scan.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { hostWith, idleAttempts } from "./_host.ts";
import { invoked } from "./_invoked.ts";

/** A store whose scans take until `proceed` is called. */
class Slow extends MemoryStore {
  proceed!: () => void;
  readonly #proceeds = new Promise<void>((resolve) => this.proceed = resolve);
  scans = 0;

  override async scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    this.scans++;
    await this.#proceeds;
    return await super.scan(lease, scan);
  }
}

/** A store that cannot make values durable ahead of their commit, and whose scans take until it failed. */
class Failing extends Slow {
  isBroken = true;
  readonly stagedBytesMin = 1;

  async stage(): Promise<() => void> {
    if (!this.isBroken) return () => {};
    setTimeout(this.proceed, 10);
    return await Promise.reject(new Error("no such disk"));
  }
}

/** A host that boots over a store, and what sends events to its partition. */
function bootOver(store: MemoryStore) {
  const senders: Mailbox[] = [], started: string[] = [];
  const host = hostWith({
    store,
    attempts: (send) => {
      senders.push(send);
      return idleAttempts(started)(send);
    },
  });
  const send = (event: Event) => senders.at(-1)?.(event);
  return { host, opened: host.open(), senders, started, send };
}

test("a partition that fails while it boots does not open, and opens again", async () => {
  const store = new Failing();
  const { host, opened, senders, send } = bootOver(store);
  await expect.poll(() => senders.length).toBe(1);
  // No attempt of this life can have said so, but the partition takes it.
  send({ ...invoked(), value: new Uint8Array(2) });
  await expect(opened).rejects.toThrow("no such disk");
  expect(host.scheduler).toBeUndefined();

  store.isBroken = false;
  await host.open();
  await expect(host.unready()).resolves.toBeUndefined();
  host.close();
});

test("an event that comes while a partition boots waits until it has booted", async () => {
  const store = new Slow();
  const { host, opened, started, send } = bootOver(store);
  await expect.poll(() => store.scans).toBe(1);
  const event = invoked();
  send(event);
  // Far more rounds of the event loop than a turn takes.
  for (let round = 0; round < 100; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual([]);
  store.proceed();
  await opened;
  await expect.poll(() => started).toEqual([event.id]);
  host.close();
});
