// What the tests of metrics and traces call. Arguments: port, transport, folder.
import http from "node:http";
import http2 from "node:http2";
import process from "node:process";

Promise.withResolvers ??= function () {
  const resolvers = {};
  resolvers.promise = new Promise((resolve, reject) =>
    Object.assign(resolvers, { resolve, reject })
  );
  return resolvers;
};

const restate = await import("@restatedev/restate-sdk");
const [port, mode] = process.argv.slice(2);

const told = (ctx) => ({
  handler: ctx.request().headers.get("traceparent"),
  attempt: ctx.request().attemptHeaders.get("traceparent"),
  state: ctx.request().attemptHeaders.get("tracestate"),
});

const traced = restate.service({
  name: "Traced",
  handlers: {
    leaf: async (ctx) => told(ctx),
    root: async (ctx) => [told(ctx), await ctx.serviceClient({ name: "Traced" }).leaf()],
    echo: async (_ctx, value) => value,
    refuse: async () => {
      throw new restate.TerminalError("no", { errorCode: 409 });
    },
    sleep: async (ctx, ms) => ctx.sleep(ms),
    flaky: async (ctx, ms) => {
      if (Date.now() < ms) throw new Error("not yet");
      return told(ctx).attempt;
    },
  },
});
const drifted = new Set();
const retryPolicy = { initialInterval: 20, maxAttempts: 2, onMaxAttempts: "pause" };
const fails = (handler) => restate.handlers.object.exclusive({ retryPolicy }, handler);

const keyed = restate.object({
  name: "Keyed",
  handlers: {
    nap: async (ctx, ms) => ctx.sleep(ms),
    breaks: fails(async (ctx) => {
      await ctx.run("charge card", () => {
        throw new Error(`no such account ${"x".repeat(5_000)}`);
      });
    }),
    // Runs a step first, and sleeps in its place ever after.
    drifts: fails(async (ctx) => {
      if (drifted.has(ctx.key)) return await ctx.sleep(1);
      drifted.add(ctx.key);
      await ctx.run("charge card", () => {});
      throw new Error("once");
    }),
  },
});

const handler = restate.createEndpointHandler({
  services: [traced, keyed],
  bidirectional: mode === "h2",
});
const server = mode === "h2" ? http2.createServer(handler) : http.createServer(handler);
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
process.stdout.write("ready\n");
