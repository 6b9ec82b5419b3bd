import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, textOf } from "./_facts.ts";
import { eventually } from "./_sidecar.ts";

const jars = await brokerTools();
const LIMIT = 5;

describe.skipIf(jars === undefined)("an inbox that is full", () => {
  const on = facts(jars, "perdure", {
    settings: { "worker.kafka-inbox-limit": String(LIMIT), "default-num-partitions": "1" },
  });

  test("leaves records in their topic, and holds up no other subscription", async () => {
    const held = `held-${on.name()}`;
    const values = Array.from({ length: 30 }, (_, n) => `${n}`);
    const topic = await on.topic([held, ...values].map((value) => ({ key: "k", value })));
    const id = await on.subscribe(topic, "Box/fail");
    const shown = async () => (await on.admin("GET", `subscriptions/${id}`)).partitions[0];
    await eventually("the stop", async () => (await shown())?.stopped_by?.kind === "inbox");
    expect((await shown()).position).toBe(LIMIT);
    const open = `SELECT count(1) AS n FROM sys_invocation WHERE status <> 'completed'
      AND invoked_by_subscription_id = '${id}'`;
    expect(await on.sql(open)).toEqual([{ n: LIMIT }]);
    const other = await on.topic(["a", "b"]);
    await on.subscribe(other, "Plain/take");
    await on.sees(other, 2);
    on.endpoint.release(held);
    const done = () => on.seen(topic).filter(({ handler }) => handler === "done").map(textOf);
    await eventually("all", () => done().length > values.length);
    expect(done()).toEqual([held, ...values]);
  });
});
