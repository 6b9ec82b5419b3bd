// Handlers that call each other. Usage: node _tree.mjs PORT h2|h1 FOLDER
//   `waits` ends once FOLDER/go.go was written.
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { restate, serve } from "../support/sdk.mjs";

const folder = process.argv[4];
const isReleased = () => existsSync(path.join(folder, "go.go"));

const tree = restate.service({
  name: "Tree",
  handlers: {
    // Calls itself: `wide[0]` times, each of those `wide[1]` times.
    grow: async (ctx, { wide, isFailing, isWaiting }) => {
      const client = ctx.serviceClient({ name: "Tree" });
      const [count = 0, ...below] = wide;
      const calls = Array.from({ length: count }, () => client.grow({ wide: below }));
      if (calls.length > 0) await restate.RestatePromise.all(calls);
      if (isFailing) await client.refuse("<b>no</b> \u202efruit").catch(() => {});
      if (isWaiting) await client.waits();
      return count;
    },
    // Sends, and does not wait for what comes of it.
    sow: async (ctx, count) => {
      for (let i = 0; i < count; i++) ctx.serviceSendClient({ name: "Tree" }).grow({ wide: [] });
    },
    refuse: async (_ctx, message) => {
      throw new restate.TerminalError(message, { errorCode: 418 });
    },
    waits: async () => {
      while (!isReleased()) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  },
});

await serve([tree]);
