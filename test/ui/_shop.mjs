// A shop in two versions, whose descriptions are hostile. Usage: node _shop.mjs PORT h2|h1 FOLDER
//   The second version is served by a life that begins after FOLDER/second.go was written; `hold`
//   waits for FOLDER/hold.go.
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { restate, serve } from "../support/sdk.mjs";

const [, , folder] = process.argv.slice(2);
const isSecond = existsSync(path.join(folder, "second.go"));
const isReleased = () => existsSync(path.join(folder, "hold.go"));

/** JSON with a schema, as libraries of schemas give it. */
const json = (jsonSchema) => ({
  contentType: "application/json",
  jsonSchema,
  serialize: (value) => restate.serde.json.serialize(value),
  deserialize: (bytes) => restate.serde.json.deserialize(bytes),
});

const item = {
  type: "object",
  required: ["sku", "count"],
  properties: {
    sku: { type: "string", description: "<img src=x onerror=alert(1)>" },
    count: { type: "integer", minimum: 1, default: 1 },
    size: { enum: ["S", "M", "L"] },
  },
};
const orderSchema = {
  title: "Order",
  type: "object",
  required: ["customer", "items"],
  properties: {
    customer: { $ref: "#/$defs/customer" },
    items: { type: "array", items: item },
    isGift: { type: "boolean" },
    note: { type: "string" },
    discount: { type: "number" },
  },
  $defs: {
    customer: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, email: { type: "string", format: "email" } },
    },
  },
};
const description = "</textarea><script>document.title = 'broken'</script>\u202egnp.exe";

const order = restate.handlers.handler(
  {
    input: json(orderSchema),
    description,
    ...(isSecond ? { inactivityTimeout: 5_000, retryPolicy: { maxAttempts: 7 } } : {}),
  },
  async (_ctx, given) => given,
);

const hold = async (ctx) => {
  await ctx.run("begin", () => {});
  while (!isReleased()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const shop = restate.service({
  name: "Shop",
  description,
  metadata: { "<b>owner</b>": "\u202eteam & <i>co</i>", long: "x".repeat(100_000) },
  handlers: {
    order,
    hold,
    fail: async (_ctx, message) => {
      throw new restate.TerminalError(message, { errorCode: 418 });
    },
    ...(isSecond ? { refund: async () => "refunded" } : { price: async () => 42 }),
  },
});

const cart = restate.object({
  name: "Cart",
  handlers: {
    add: async (ctx, sku) => ctx.set("skus", [...((await ctx.get("skus")) ?? []), sku]),
    list: restate.handlers.object.shared(async (ctx) => (await ctx.get("skus")) ?? []),
  },
});

await serve([shop, ...(isSecond ? [cart] : [])]);
