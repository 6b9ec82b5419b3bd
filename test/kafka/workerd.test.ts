import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEndpoint } from "../support/endpoint.ts";
import { SIDECAR_TOKEN } from "../support/server.ts";
import { startWorkerd, type WorkerdServer } from "../workerd/_server.ts";
import { brokerTools, startBroker } from "./broker/broker.ts";
import { Facts } from "./_facts.ts";
import { eventually, SidecarProcess } from "./_sidecar.ts";
import { Topics } from "./_topics.ts";

const jars = await brokerTools();
const KEYS = 5;

/** As `Facts`, with the Worker as the server, on rows that outlive it. */
class WorkerdFacts extends Facts {
  server!: WorkerdServer;

  override get adminUrl(): string {
    return this.server.admin;
  }

  override async start(jars: string): Promise<void> {
    const services = path.join(import.meta.dirname, "services_kafka.mjs");
    [this.broker, this.server, this.endpoint] = await Promise.all([
      startBroker(jars),
      startWorkerd(),
      startEndpoint("h2", services),
    ]);
    this.topics = new Topics(this.broker.client());
    this.sidecar = new SidecarProcess({ url: this.server.admin, token: SIDECAR_TOKEN });
    await this.register();
    await this.admin("POST", "kafka-clusters", {
      name: "k",
      properties: { "bootstrap.servers": this.broker.address },
    });
  }

  override async close(): Promise<void> {
    await this.sidecar?.stop("SIGKILL");
    await this.topics?.close();
    await Promise.all([this.server?.close(), this.endpoint?.close(), this.broker?.close()]);
  }
}

/** How often each key was counted, and how often out of order. */
async function counters(on: Facts): Promise<Record<string, unknown>> {
  const query = "SELECT service_key, value_utf8 FROM state WHERE service_name = 'Counter'";
  const rows = await on.sql(query).catch(() => []);
  return Object.fromEntries(rows.map((row) => {
    const { count, disordered } = JSON.parse(String(row["value_utf8"]));
    return [String(row["service_key"]), [count, disordered]];
  }));
}

describe.skipIf(jars === undefined)("the Worker and a sidecar", () => {
  const on = new WorkerdFacts("perdure");
  beforeAll(() => on.start(jars!), 120_000);
  afterAll(() => on.close());

  test("make each record one invocation, in order, over a crash of workerd", async () => {
    const topic = await on.topic();
    const id = await on.subscribe(topic, "Counter/add");
    const send = (from: number, to: number) =>
      on.topics.send(
        topic,
        ...Array.from({ length: to - from }, (_, n) => from + n)
          .map((n) => ({ key: `k${n % KEYS}`, value: String(n) })),
      );
    const all = (count: number) =>
      Object.fromEntries(Array.from({ length: KEYS }, (_, n) => [`k${n}`, [count / KEYS, 0]]));
    await send(0, 100);
    await expect.poll(() => counters(on), { timeout: 30_000 }).toEqual(all(100));
    const crash = on.server.stop("SIGKILL");
    await send(100, 200);
    await crash;
    await send(200, 300);
    await on.server.start();
    await expect.poll(() => counters(on), { timeout: 30_000 }).toEqual(all(300));
    await eventually("the state", async () => {
      const { state, partitions } = await on.admin("GET", `subscriptions/${id}`);
      return state === "running" && partitions[0]?.position === 300;
    });
    const made = "SELECT count(1) AS n FROM sys_invocation WHERE invoked_by = 'subscription'";
    expect((await on.sql(made))[0]?.["n"]).toBe(300);
  }, 90_000);
});
