import { discovered, handler, service, setup } from "./_setup.ts";

/** The cluster that `withServices` makes. */
export const CLUSTER = "k";

/** An admin interface with services of every kind, one of them private, and a cluster. */
export async function withServices(...options: Parameters<typeof setup>) {
  const world = await setup(...options);
  world.endpoints.set(
    "http://services/",
    discovered([
      service("Greeter", [handler("greet")]),
      service("Private", [handler("hide", { public: false })], { public: false }),
      service("Counter", [
        handler("add", { access: "exclusive" }),
        handler("peek", { access: "shared" }),
      ], { type: "virtual_object" }),
      service("Flow", [handler("run", { access: "run" })], { type: "workflow" }),
    ]),
  );
  await world.register({ uri: "http://services/" });
  await world.post("/kafka-clusters", {
    name: CLUSTER,
    properties: { "bootstrap.servers": "broker:9092", "sasl.password": "secret" },
  });
  return world;
}

/** The same, with a subscription. */
export async function subscribed(...options: Parameters<typeof setup>) {
  const world = await withServices(...options);
  const { json: subscription } = await world.post("/subscriptions", {
    source: `kafka://${CLUSTER}/topic`,
    sink: "service://Greeter/greet",
  });
  return { ...world, subscription, path: `/subscriptions/${subscription.id}` };
}
