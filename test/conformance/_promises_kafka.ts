import { expect } from "vitest";
import { until } from "../support/child.ts";
import { get, manage, value } from "../support/client.ts";
import { PlayedSidecar } from "../support/played_sidecar.ts";
import type { Promises, World } from "./_world.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
/** A cluster's name is its own: letters, digits and hyphens. */
const clusterOf = ({ id }: World) => `cluster-${id}`;

async function made({ server }: World, path: string, body: unknown): Promise<{ id: string }> {
  const answer = await manage(server, `POST ${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as { id: string };
}

/** A cluster that nobody asks, and a subscription. */
async function subscribed(world: World, sink: string): Promise<PlayedSidecar> {
  const name = clusterOf(world);
  // Port 1: whatever asks it, is refused.
  const properties = { "bootstrap.servers": "127.0.0.1:1", "sasl.password": "hidden" };
  await made(world, "/kafka-clusters", { name, properties });
  const { id } = await made(world, "/subscriptions", {
    source: `kafka://${name}/orders`,
    sink: `service://${sink}`,
  });
  return new PlayedSidecar(world.server, id);
}

async function removed({ server }: World, path: string): Promise<void> {
  const { status } = await fetch(`${server.admin}${path}`, { method: "DELETE" });
  expect(status).toBe(202);
}

/** Removes what `subscribed` has made. */
async function unsubscribed(world: World, { subscription }: PlayedSidecar): Promise<void> {
  await removed(world, `/subscriptions/${subscription}`);
  await removed(world, `/kafka-clusters/${clusterOf(world)}`);
}

export const kafkaPromises: Promises = {
  "lists clusters and subscriptions without their secrets": async (world) => {
    const sidecar = await subscribed(world, "Greeter/headers");
    const { server } = world;
    const name = clusterOf(world);
    const { body } = await get(`${server.admin}/kafka-clusters/${name}?include_subscriptions=true`);
    expect(body).toMatchObject({
      name,
      properties: { "bootstrap.servers": "127.0.0.1:1", "sasl.password": "***" },
      subscriptions: [{ id: sidecar.subscription, source: `kafka://${name}/orders` }],
    });
    await unsubscribed(world, sidecar);
    expect((await get(`${server.admin}/subscriptions/${sidecar.subscription}`)).status).toBe(404);
  },

  "refuses a subscription that cannot work, and to delete a cluster in use": async (world) => {
    const sidecar = await subscribed(world, "Greeter/headers");
    const { server } = world;
    const source = `kafka://${clusterOf(world)}/orders`;
    const refused = async (body: object) => {
      const answer = await manage(server, "POST /subscriptions", body);
      return [answer.status, (answer.body as { svc_code?: string }).svc_code];
    };
    expect(await refused({ source, sink: "service://Nope/nope" })).toEqual([400, "META0009"]);
    const sink = "service://Greeter/headers";
    expect(await refused({ source: "amqp://a/b", sink })).toEqual([400, "META0009"]);
    expect(await refused({ source, sink, options: { "group.idd": "g" } }))
      .toEqual([400, "META0009"]);
    const inUse = await fetch(`${server.admin}/kafka-clusters/${clusterOf(world)}`, {
      method: "DELETE",
    });
    expect(inUse.status).toBe(409);
    await unsubscribed(world, sidecar);
  },

  "tells a sidecar what to do, as soon as it changes": async (world) => {
    const sidecar = await subscribed(world, "Greeter/headers");
    const { server } = world;
    const plan = await (await sidecar.ask("plan")).json();
    const own = () =>
      plan.subscriptions.filter(({ id }: { id: string }) => id === sidecar.subscription);
    expect(own()).toEqual([expect.objectContaining({ sinkType: "service" })]);
    const path = `/subscriptions/${sidecar.subscription}`;
    const paused = () => manage(server, `PATCH ${path}`, { paused: true });
    const [next] = await Promise.all([
      sidecar.ask(`plan?known=${plan.version}&wait=30000`).then((answer) => answer.json()),
      paused(),
    ]);
    expect(next.version).not.toBe(plan.version);
    await unsubscribed(world, sidecar);
  },

  "shows what a sidecar reports of a subscription": async (world) => {
    const sidecar = await subscribed(world, "Greeter/headers");
    const { server } = world;
    const stoppedBy = { kind: "poison", message: "bad key" };
    const partition = { topic: "orders", partition: 0, position: 3, end: 10 };
    await sidecar.report("blocked", [{ ...partition, stoppedBy }]);
    const path = `${server.admin}/subscriptions/${sidecar.subscription}`;
    expect((await get(path)).body).toMatchObject({
      state: "blocked",
      partitions: [{ ...partition, lag: 7, stopped_by: stoppedBy }],
    });
    await unsubscribed(world, sidecar);
  },

  "calls a handler for each record, with headers that describe it": async (world) => {
    const { endpoint, id } = world;
    const sidecar = await subscribed(world, "Greeter/note");
    const notes = ["a", "b", "c"].map((name) => ({
      value: bytes(JSON.stringify(`${id} ${name}`)),
    }));
    expect(await sidecar.records(7, notes)).toEqual({ next: 10 });
    for (const name of ["a", "b", "c"]) await endpoint.happens(`${id} ${name}`);
    await unsubscribed(world, sidecar);
  },

  "calls once for a record that is handed over again, in the order of its key": async (world) => {
    const { server, id } = world;
    const sidecar = await subscribed(world, "Counter/append");
    const key = bytes(id);
    const words = Array.from({ length: 20 }, (_, n) => ({ key, value: bytes(JSON.stringify(n)) }));
    expect(await sidecar.records(0, words.slice(0, 12))).toEqual({ next: 12 });
    expect(await sidecar.records(0, words)).toEqual({ next: 20 });
    expect(await sidecar.records(5, words.slice(5, 8))).toEqual({ next: 8 });
    const got = async () => await value(server, `Counter/${id}/words`) as number[];
    await until("all records", async () => (await got()).length >= 20);
    expect(await got()).toEqual(words.map((_, n) => n));
    await unsubscribed(world, sidecar);
  },

  "takes a batch of several megabytes": async (world) => {
    const { endpoint, id } = world;
    const sidecar = await subscribed(world, "Greeter/note");
    const large = (n: number) => `${id} large ${n} ${"x".repeat(600_000)}`;
    const all = Array.from({ length: 6 }, (_, n) => ({ value: bytes(JSON.stringify(large(n))) }));
    expect(await sidecar.records(0, all)).toEqual({ next: 6 });
    for (let n = 0; n < 6; n++) await endpoint.happens(large(n));
    await unsubscribed(world, sidecar);
  },

  "says which record cannot become an invocation, and takes those before it": async (world) => {
    const { server, id } = world;
    const sidecar = await subscribed(world, "Counter/add");
    const one = { key: bytes(id), value: bytes("1") };
    const bad = { key: new Uint8Array([0xff]), value: bytes("1") };
    expect(await sidecar.records(0, [one, bad, one])).toEqual({
      next: 1,
      poison: { message: expect.stringContaining("UTF-8") },
    });
    expect(await value(server, `Counter/${id}/add`, 0)).toBe(1);
    await unsubscribed(world, sidecar);
  },
};

export const kafkaRestartPromises: Promises = {
  "knows subscriptions, and the records it has, after a restart": async (world) => {
    const { server, id } = world;
    const sidecar = await subscribed(world, "Counter/add");
    const before = (await get(`${server.admin}/subscriptions`)).body;
    const ones = Array.from({ length: 30 }, (_, n) => ({
      key: bytes(`${id}-${n % 3}`),
      value: bytes("1"),
    }));
    expect(await sidecar.records(0, ones.slice(0, 21))).toEqual({ next: 21 });
    await server.crash();
    expect((await get(`${server.admin}/subscriptions`)).body).toEqual(before);
    expect(await sidecar.records(0, ones)).toEqual({ next: 30 });
    for (let n = 0; n < 3; n++) {
      expect(await value(server, `Counter/${id}-${n}/add`, 0)).toBe(10);
    }
    await unsubscribed(world, sidecar);
  },
};
