// Payments as they were first, as they fail, and as they are mended. Usage: node _payments.mjs PORT h2|h1 FOLDER
//   A life that begins after FOLDER/first.go or FOLDER/mended.go was written serves that build, else the
//   one that fails.
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { restate, serve } from "../support/sdk.mjs";

const [, , folder] = process.argv.slice(2);
const isMended = existsSync(path.join(folder, "mended.go"));
const works = isMended || existsSync(path.join(folder, "first.go"));

const FEW = { maxAttempts: 2, initialInterval: 10, onMaxAttempts: "pause" };

const charge = restate.handlers.handler({ retryPolicy: FEW }, async (ctx, order) => {
  await ctx.run("reserve", () => order);
  await ctx.run("charge the card", () => {
    if (!works) throw new Error("no currency of <b>order</b>");
  });
  return `charged ${order}`;
});

const refund = async (_ctx, order) => {
  if (!works) throw new restate.TerminalError(`cannot refund ${order}`, { errorCode: 409 });
  return `refunded ${order}`;
};

const payments = restate.service({
  name: "Payments",
  handlers: { charge, refund, ...(isMended ? { currency: async () => "EUR" } : {}) },
});

await serve([payments]);
