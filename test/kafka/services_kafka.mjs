// Handlers that note what comes of records, a line of JSON each. Usage: see ../support/sdk.mjs.
//   FOLDER/<value>.go ends the failures of `Box/fail`.
import { existsSync } from "node:fs";
import path from "node:path";
import { note, restate, serve } from "../support/sdk.mjs";

const folder = process.argv[4];
const input = restate.serde.binary;

const noted = (handler, { isKeyed = true } = {}) => async (ctx, bytes) => {
  const { headers, id, attemptHeaders } = ctx.request();
  const trace = attemptHeaders.get("traceparent");
  const value = Buffer.from(bytes ?? []).toString("base64");
  // A service has no key, and says so by throwing.
  const key = isKeyed ? ctx.key : undefined;
  note(JSON.stringify({ handler, id: `${id}`, key, value, headers: [...headers], trace }));
};

/** Handlers that note every attempt. They fail those of `held…` until they are released, and `refused` for good. */
const failing = (options) => async (ctx, bytes) => {
  const text = Buffer.from(bytes).toString();
  await noted("attempt", options)(ctx, bytes);
  if (text.startsWith("held") && !existsSync(path.join(folder, `${text}.go`))) {
    throw new Error(`${text} is held`);
  }
  if (text === "refused") throw new restate.TerminalError("refused", { errorCode: 418 });
  await noted("done", options)(ctx, bytes);
};

const plain = restate.service({
  name: "Plain",
  handlers: {
    take: restate.handlers.handler({ input }, noted("plain", { isKeyed: false })),
    fail: restate.handlers.handler({ input }, failing({ isKeyed: false })),
    typed: async () => {},
    own: restate.handlers.handler(
      { input, ingressPrivate: true },
      noted("own", { isKeyed: false }),
    ),
  },
});

const box = restate.object({
  name: "Box",
  handlers: {
    take: restate.handlers.object.exclusive({ input }, noted("box")),
    peek: restate.handlers.object.shared({ input }, noted("peek")),
    fail: restate.handlers.object.exclusive({ input }, failing()),
  },
});

const flow = restate.workflow({
  name: "Flow",
  handlers: {
    run: restate.handlers.workflow.workflow({ input }, noted("run")),
    poke: restate.handlers.workflow.shared({ input }, noted("poke")),
  },
});

// For crashes: `Counter` counts what comes for a key, and how often a number was not above the last.
const counter = restate.object({
  name: "Counter",
  handlers: {
    add: async (ctx, n) => {
      const { count = 0, last = -1, disordered = 0 } = (await ctx.get("counter")) ?? {};
      const isBehind = n <= last ? 1 : 0;
      ctx.set("counter", { count: count + 1, last: n, disordered: disordered + isBehind });
    },
  },
});

const relay = restate.service({
  name: "Relay",
  handlers: {
    pass: async (ctx, n) => ctx.objectSendClient(counter, `service-${n % 50}`).add(n),
  },
});

const once = restate.workflow({
  name: "Once",
  handlers: {
    run: async (ctx, n) => ctx.objectSendClient(counter, `workflow-${n % 50}`).add(n),
  },
});

await serve([plain, box, flow, counter, relay, once]);
