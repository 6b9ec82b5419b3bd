import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { RecordBatch } from "../../src/model/kafka.ts";
import { manage } from "../support/client.ts";
import { SIDECAR_TOKEN } from "../support/server.ts";
import { Chance, damaged } from "./_fuzz.ts";
import { SCALE, tell, TEST_MS } from "./_scale.ts";
import { expectWell, startTarget, type Target } from "./_target.ts";

const SEED = Number(process.env["ATTACK_SEED"] ?? "1");
const BATCHES = 1_000 * SCALE;
const AUTHORIZED = { authorization: `Bearer ${SIDECAR_TOKEN}` };

let target: Target, subscription: string;
beforeAll(async () => {
  target = await startTarget();
  const properties = { "bootstrap.servers": "127.0.0.1:1" };
  await manage(target.server, "POST /kafka-clusters", { name: "k", properties });
  const subscribed = { source: "kafka://k/t", sink: "service://Greeter/greet" };
  const { body } = await manage(target.server, "POST /subscriptions", subscribed);
  subscription = (body as { id: string }).id;
}, 60_000);
afterAll(async () => await target?.close());

/** Values that fields of a batch cannot have, and some that they can. */
const ODD: readonly unknown[] = [
  ...[null, undefined, -1, 0, 1.5, 2 ** 53, 2 ** 53 - 1, 1e308, "", "\ud800", "__proto__", true],
  ...[
    [],
    [[]],
    [["a"]],
    [["a", 1]],
    {},
    { length: 1e9 },
    [null],
    [-1],
    [-2],
    [1e9],
    "x".repeat(9_000),
  ],
];

/** The bytes of a batch whose head says something else, in one or two places. */
function oddBatch(chance: Chance): Uint8Array {
  const text = (value: string) => new TextEncoder().encode(value);
  const records = Array.from({ length: 1 + chance.below(4) }, (_, n) => ({
    offset: n,
    timestamp: 1_700_000_000_000,
    key: chance.next() < 0.5 ? undefined : text("key"),
    value: chance.next() < 0.2 ? undefined : text('"you"'),
    objectKey: undefined,
    headers: [["a", "b"]] as const,
    scope: undefined,
    limitKey: undefined,
    traceparent: undefined,
  }));
  const partition = chance.below(100_000);
  const batch = { subscription, group: subscription, topic: "t", partition, next: 9, records };
  const packed = encodeBatch(batch as RecordBatch);
  if (chance.next() < 0.3) return damaged(chance, packed);
  const size = new DataView(packed.buffer).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(packed.subarray(4, 4 + size)));
  for (let i = 1 + chance.below(2); i > 0; i--) head[chance.of(Object.keys(head))] = chance.of(ODD);
  const json = text(JSON.stringify(head));
  const changed = new Uint8Array(4 + json.length + packed.length - 4 - size);
  new DataView(changed.buffer).setUint32(0, json.length);
  changed.set(json, 4);
  changed.set(packed.subarray(4 + size), 4 + json.length);
  return changed;
}

test(`every batch of seed ${SEED} is taken or refused, and none by a fault of ours`, async () => {
  const chance = new Chance(SEED);
  const statuses: Record<string, number> = {};
  for (let n = 0; n < BATCHES; n++) {
    const body = new Uint8Array(oddBatch(chance));
    const url = `${target.server.admin}/internal/kafka/records`;
    const answer = await fetch(url, { method: "POST", headers: AUTHORIZED, body });
    const text = await answer.text();
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    expect([200, 400, 404], text).toContain(answer.status);
  }
  tell({ seed: SEED, statuses });
  for (const status of [200, 400, 404]) expect(statuses[status]).toBeGreaterThan(0);
  await expectWell(target);
}, TEST_MS);
