import { expect, test } from "vitest";
import { SerialQueues } from "../../src/admin/serial_queues.ts";

test("work of one queue runs in order, and a failure does not stop the work behind it", async () => {
  const queues = new SerialQueues();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === "b") throw new Error("b failed");
    return name;
  };
  const all = ["a", "b", "c"].map((name) => queues.run("key", work(name)));
  const settled = await Promise.allSettled(all);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(log).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("queues do not wait for each other", async () => {
  const queues = new SerialQueues();
  void queues.run("stuck", () => new Promise(() => {}));
  expect(await queues.run("free", () => Promise.resolve(1))).toBe(1);
});
