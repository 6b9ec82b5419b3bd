import { expect, test } from "vitest";
import type { Want } from "../../src/model/rows.ts";
import type { Lease, Loaded, Mailbox } from "../../src/ports.ts";
import type { Scan, ScanRow } from "../../src/scan.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { hostWith, idleAttempts } from "./_host.ts";

/** A store in which reads of rows fail, and the first scan takes until one has. */
class Failing extends MemoryStore {
  isBroken = true;
  #failed!: () => void;
  readonly #hasFailed = new Promise<void>((resolve) => this.#failed = resolve);

  override async load(lease: Lease, wants: readonly Want[]): Promise<readonly Loaded[]> {
    if (!this.isBroken) return await super.load(lease, wants);
    // The scan ends after the partition has seen the failure.
    setTimeout(this.#failed, 10);
    throw new Error("no such disk");
  }

  override async scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    await this.#hasFailed;
    return await super.scan(lease, scan);
  }
}

test("a partition that fails while it boots does not open, and opens again", async () => {
  const store = new Failing();
  const senders: Mailbox[] = [];
  const host = hostWith({
    store,
    attempts: (send) => {
      senders.push(send);
      return idleAttempts()(send);
    },
  });
  const opened = host.open();
  await expect.poll(() => senders.length).toBe(1);
  // No attempt of this life can have said so, but the partition takes it.
  senders[0]?.({ type: "expired", id: "inv_1" });
  await expect(opened).rejects.toThrow("no such disk");
  expect(host.scheduler).toBeUndefined();

  store.isBroken = false;
  await host.open();
  await expect(host.unready()).resolves.toBeUndefined();
  host.close();
});
