import { expect, test } from "vitest";
import { random } from "../../adapters/platform/random.ts";
import type { Attempt } from "../../src/engine/effect.ts";
import type { Command } from "../../src/model/command.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { partitionOfObject } from "../../src/model/ring.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import type { Host } from "../../src/partition/host.ts";
import type { Lease, Mailbox, OutboxBatch } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { until } from "../support/child.ts";
import { targetOf } from "../support/schema.ts";
import { hostWith } from "./_host.ts";

const PARTITIONS = 2;
const value = new TextEncoder().encode("done");
const bytes = new Uint8Array(0);

/** An object of each partition, and an id of an unkeyed call in the first. */
const [first = "", second = ""] = [0, 1].map((place) => {
  for (let n = 0;; n++) {
    if (partitionOfObject({ key: `k${n}` }, PARTITIONS) === place) return `k${n}`;
  }
});

/** `greeter` calls the object in its input and returns its result; other handlers return at once. */
function attempts(send: Mailbox): AttemptRunner {
  const start = ({ attempt, invocation: { id, target }, entries }: Attempt): void => {
    const say = (frame: Command): void => {
      const pin = { deployment: "dp_1", protocol: 6 };
      const entropy = random(16);
      send({ type: "framesReceived", id, attempt, first: 0, frames: [frame], pin, entropy });
    };
    const end = { type: "attemptEnded", id, attempt, jitter: 0 } as const;
    const [input] = entries;
    if (target.service === "greeter" && entries.length === 1 && input?.kind === "input") {
      const key = new TextDecoder().decode(input.value);
      const request = { service: "counter", handler: "add", key, headers: [], value: bytes };
      say({ kind: "call", bytes, invocationIdCompletion: 1, completion: 2, request });
      const awaiting = { kind: "unknown", completions: [2], signals: [1], names: [] } as const;
      return send({ ...end, outcome: { kind: "suspended", awaiting, delivered: 3 } });
    }
    say({ kind: "output", bytes, result: { kind: "value", value } });
    send({ ...end, outcome: { kind: "ended" } });
  };
  return { start, notify: () => {}, abort: () => {}, yield: () => {}, close: () => {} };
}

/** Two partitions over one store, and the transport between them. */
class Two {
  readonly store = new MemoryStore();
  readonly hosts: Host[] = [];
  batches = 0;
  isCut = false;

  async open(): Promise<void> {
    for (const host of this.hosts.splice(0)) host.close();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const host = hostWith({
        range: { partition, partitions: PARTITIONS },
        sendBatch: (to, batch) => this.#carry(to, batch),
        store: this.store,
        attempts,
        cleanupIntervalMs: 60_000,
      });
      this.hosts.push(host);
    }
    await Promise.all(this.hosts.map((host) => host.open()));
  }

  async #carry(to: number, batch: OutboxBatch): Promise<number> {
    this.batches++;
    const host = this.hosts[to];
    if (this.isCut || !host) throw new Error("no way");
    return await host.partitionClient.deliver(batch);
  }

  /** Asks `greeter`, in the first partition, to call an object. */
  async send(key: string): Promise<string> {
    const entropy = new Uint8Array(16).map((_, i) => i === 15 ? 0 : random(1)[0] ?? 0);
    const identity = { service: "greeter", handler: "hi", isWorkflowRun: false };
    const { id } = newInvocationId(identity, entropy, 0);
    const host = this.hosts[0];
    if (!host) throw new Error("There is no partition 0");
    await host.partitionClient.send({
      id,
      fresh: true,
      target: targetOf("greeter/hi"),
      headers: [],
      value: new TextEncoder().encode(key),
      origin: { by: "ingress" },
      retention: { resultMs: 60_000, journalMs: 60_000 },
    });
    return id;
  }

  /** The partitions of the first life. */
  leases(): Lease[] {
    return this.hosts.map((_, partition) => ({ partition, epoch: 1 }));
  }

  close(): void {
    for (const host of this.hosts) host.close();
  }
}

test("a call goes to the partition of the object, and its result comes back", async () => {
  const two = new Two();
  await two.open();
  const ids = await Promise.all([two.send(first), two.send(second)]);
  for (const id of ids) {
    expect(await two.hosts[0]?.partitionClient.attach(id)).toMatchObject({
      result: { kind: "value", value },
    });
  }
  // Call and result; the call within the same partition needed no message.
  expect(two.batches).toBeGreaterThanOrEqual(2);
  two.close();
});

test("acknowledged messages are deleted", async () => {
  const two = new Two();
  await two.open();
  const id = await two.send(second);
  await two.hosts[0]?.partitionClient.attach(id);
  await until("nothing is left", async () => {
    const pages = await Promise.all(
      two.leases().map((lease) => two.store.scan(lease, { kind: "outbox", limit: 10 })),
    );
    return pages.flat().length === 0;
  });
  two.close();
});

test("a message that could not be sent is sent when its partition restarts", async () => {
  const two = new Two();
  two.isCut = true;
  await two.open();
  const id = await two.send(second);
  await until("somebody tries", () => Promise.resolve(two.batches > 0));
  expect(await two.hosts[0]?.partitionClient.output(id)).toBe("notReady");
  two.isCut = false;
  await two.open();
  const answer = await two.hosts[0]?.partitionClient.attach(id);
  expect(answer).toMatchObject({ result: { kind: "value", value } });
  two.close();
});
