import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { Ingested } from "../../src/model/kafka.ts";
import { until } from "../support/child.ts";
import { manage, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, SIDECAR_TOKEN } from "../support/server.ts";
import { mustRun } from "./_tool.ts";
import { Servers } from "./_servers.ts";

let endpoint: Endpoint;
const { at, start } = new Servers();

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
});
afterAll(() => endpoint.close());

const KEYS = 8;
const BATCH = 60;
/** Kills of a server with one layout, the last of which is followed by a reshard. */
const KILLS = 3;
const LAYOUTS = [
  ["--to-partitions=2", "--to-databases=each"],
  ["--to-partitions=5", "--to-databases=one"],
];

const bytes = (text: string) => new TextEncoder().encode(text);

/** Every seventh offset is a marker, and no record. */
const isRecord = (offset: number) => offset % 7 !== 3;

async function subscribed(server: Server): Promise<string> {
  const properties = { "bootstrap.servers": "127.0.0.1:1" };
  await manage(server, "POST /kafka-clusters", { name: "k", properties });
  const subscription = { source: "kafka://k/words", sink: "service://Counter/append" };
  const { body } = await manage(server, "POST /subscriptions", subscription);
  return (body as { id: string }).id;
}

/** Hands over the records of a batch. Undefined: there is no answer. */
async function send(
  server: Server,
  subscription: string,
  from: number,
): Promise<Ingested | undefined> {
  const offsets = Array.from({ length: BATCH }, (_, i) => from + i).filter(isRecord);
  const body = encodeBatch({
    subscription,
    group: subscription,
    topic: "words",
    partition: 0,
    next: from + BATCH,
    records: offsets.map((offset) => ({
      offset,
      timestamp: 1,
      key: bytes(`k${offset % KEYS}`),
      value: bytes(String(offset)),
      objectKey: undefined,
      headers: [],
      scope: undefined,
      limitKey: undefined,
      traceparent: undefined,
    })),
  });
  const headers = { authorization: `Bearer ${SIDECAR_TOKEN}` };
  const init = { method: "POST", headers, body } as const;
  try {
    const answer = await fetch(`${server.admin}/internal/kafka/records`, init);
    return answer.status === 200 ? await answer.json() as Ingested : undefined;
  } catch {
    return undefined;
  }
}

test(
  "records are taken once and in order, over kills and other numbers of partitions",
  async () => {
    let folder = at("0");
    let server = await start(folder, { DEFAULT_NUM_PARTITIONS: "3" });
    await register(server, endpoint);
    const subscription = await subscribed(server);
    let position = 0;
    for (const [round, layout] of LAYOUTS.entries()) {
      for (let kill = 1; kill <= KILLS; kill++) {
        const taken = await send(server, subscription, position);
        expect(taken).toEqual({ next: position + BATCH });
        position += BATCH;
        // Some of the next one may be durable, in some partitions.
        const sending = send(server, subscription, position);
        await sleep(2 + 4 * (round * KILLS + kill));
        await server.stop("SIGKILL");
        const heard = await sending;
        if (heard) position = heard.next;
        if (kill < KILLS) await server.start();
      }
      const next = at(String(round + 1));
      await mustRun(["reshard", ...layout, "--base-dir", folder, "--to", next]);
      server = await start(folder = next);
    }
    expect(await send(server, subscription, position)).toEqual({ next: position + BATCH });
    position += BATCH;
    // A sidecar whose offsets were set back begins again.
    expect(await send(server, subscription, 0)).toEqual({ next: BATCH });
    const offsets = Array.from({ length: position }, (_, offset) => offset).filter(isRecord);
    for (let key = 0; key < KEYS; key++) {
      const wanted = offsets.filter((offset) => offset % KEYS === key);
      const words = async () => await value(server, `Counter/k${key}/words`) as number[];
      await until(`k${key} to have all`, async () => (await words()).length >= wanted.length);
      expect(await words()).toEqual(wanted);
    }
  },
  120_000,
);
