import { equal, match, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./server.mjs";

let running;
before(async () => {
  running = await start();
  await running.call("Stock/lamp/add", 5);
});
after(() => running?.stop());

test("an order takes its items from the stock and charges the card", async () => {
  const order = { item: "lamp", count: 2, card: "visa" };
  match(await running.call("Orders/place", order), /^2 lamp: charged visa/);
  equal(await running.call("Stock/lamp/left"), 3);
});

test("an order whose card is declined gives its items back", async () => {
  const order = { item: "lamp", count: 2, card: "stolen" };
  await rejects(running.call("Orders/place", order), /402: The card was declined/);
  equal(await running.call("Stock/lamp/left"), 3);
});
