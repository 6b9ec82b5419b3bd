// Handlers for whole-process tests. Usage: node services.mjs PORT h2|h1 FOLDER
//   h2: HTTP/2 cleartext, bidirectional. h1: HTTP/1.1, request-response (what functions speak).
//   FOLDER: side effects are lines in FOLDER/log; a held step waits for a file FOLDER/<id>.go.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import path from "node:path";

// The SDK needs it and Node 20 lacks it: without, every invocation hangs.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const restate = await import("@restatedev/restate-sdk");
const { waitingServices } = await import("./services_waiting.mjs");

const [port, mode, folder] = process.argv.slice(2);
const logFile = path.join(folder, "log");

// O_APPEND and one write a line: lines of several processes never mix.
const note = (line) => appendFileSync(logFile, `${line}\n`);
const lines = () => existsSync(logFile) ? readFileSync(logFile, "utf8").split("\n") : [];
const times = (line) => lines().filter((one) => one === line).length;
const isReleased = (id) => existsSync(path.join(folder, `${id}.go`));
const held = async (id) => {
  while (!isReleased(id)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

// A step that runs for `ms` in the first attempt, which is aborted long before: 200 ms without a frame.
const busyOptions = { inactivityTimeout: 100, abortTimeout: 100 };
const busy = async (ctx, { id, ms }) =>
  await ctx.run("busy", async () => {
    const isFirst = times(`${id} begins`) === 0;
    note(`${id} begins`);
    if (isFirst) await new Promise((resolve) => setTimeout(resolve, ms));
    note(`${id} ends`);
  });

const greeter = restate.service({
  name: "Greeter",
  handlers: {
    busy: restate.handlers.handler(busyOptions, busy),
    greet: async (_ctx, name) => `Hello ${name}`,
    nothing: async () => {},
    // A text, or a text with the code of the error.
    refuse: async (_ctx, given) => {
      const { message, errorCode } = typeof given === "string"
        ? { message: given, errorCode: 418 }
        : given;
      throw new restate.TerminalError(message, { errorCode });
    },
    // Fails `failures` times, then succeeds.
    flaky: async (_ctx, { id, failures }) => {
      note(`${id} attempt`);
      if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
      return times(`${id} attempt`);
    },
    // The same inside a step, between two others.
    flakyStep: async (ctx, { id, failures }) => {
      await ctx.run("before", () => note(`${id} before`));
      await ctx.run("middle", () => {
        note(`${id} middle`);
        if (times(`${id} middle`) <= failures) throw new Error(`${id} is not ready`);
      });
      await ctx.run("after", () => note(`${id} after`));
      return "done";
    },
    refuseStep: async (ctx, id) => {
      try {
        await ctx.run("refused", () => {
          note(`${id} refused`);
          throw new restate.TerminalError("no", { errorCode: 409 });
        });
      } catch (cause) {
        return `caught ${cause.code} ${cause.message}`;
      }
    },
    // `count` steps; the one numbered `holdAt` waits for permission.
    steps: async (ctx, { id, count, holdAt = -1 }) => {
      const seen = [];
      for (let i = 0; i < count; i++) {
        const value = await ctx.run(`step ${i}`, async () => {
          note(`${id} step ${i}`);
          if (i === holdAt) await held(id);
          return `${i}-${process.pid}-${Math.random()}`;
        });
        seen.push(value);
      }
      return seen;
    },
    hang: async (_ctx, id) => {
      note(`${id} hang`);
      await held(id);
      return "let go";
    },
    nap: async (ctx, { id, ms }) => {
      await ctx.run("before", () => note(`${id} before`));
      // Only when the step before is durable does a handler get here.
      note(`${id} asleep`);
      await ctx.sleep(ms);
      await ctx.run("after", () => note(`${id} after`));
      return Date.now();
    },
    naps: async (ctx, list) => {
      await restate.RestatePromise.all(list.map((ms) => ctx.sleep(ms)));
      return list.length;
    },
    fan: async (ctx, names) => {
      const client = ctx.serviceClient({ name: "Greeter" });
      return await restate.RestatePromise.all(names.map((name) => client.greet(name)));
    },
    callRefused: async (ctx, message) => {
      try {
        return await ctx.serviceClient({ name: "Greeter" }).refuse(message);
      } catch (cause) {
        return `caught ${cause.code} ${cause.message}`;
      }
    },
    callCounter: async (ctx, { key, delta }) =>
      await ctx.objectClient({ name: "Counter" }, key).add(delta),
    race: async (ctx, { id, ms }) => {
      const slow = ctx.serviceClient({ name: "Greeter" }).nap({ id, ms });
      const first = await restate.RestatePromise.race([
        slow.map(() => "call"),
        ctx.sleep(20).map(() => "sleep"),
      ]);
      return first;
    },
    relay: async (ctx, { key, deltas, delayMs = 0 }) => {
      const options = delayMs > 0 ? restate.rpc.sendOpts({ delay: delayMs }) : undefined;
      for (const delta of deltas) {
        ctx.objectSendClient({ name: "Counter" }, key).add(delta, ...(options ? [options] : []));
      }
      return deltas.length;
    },
    note: async (ctx, line) => ctx.run("note", () => note(line)),
    random: async (ctx) => [ctx.rand.uuidv4(), ctx.rand.random()],
    headers: async (ctx) => Object.fromEntries(ctx.request().headers),
    bytes: restate.handlers.handler(
      { input: restate.serde.binary, output: restate.serde.binary },
      async (_ctx, bytes) => bytes,
    ),
  },
});

const counter = restate.object({
  name: "Counter",
  handlers: {
    busy: restate.handlers.object.exclusive(busyOptions, busy),
    add: async (ctx, delta) => {
      const value = ((await ctx.get("value")) ?? 0) + delta;
      ctx.set("value", value);
      return value;
    },
    // Between reading and writing there is time for another to come in, if the lock let it.
    slowAdd: async (ctx, { delta, ms }) => {
      const value = ((await ctx.get("value")) ?? 0) + delta;
      note(`${ctx.key} in`);
      if (ms > 0) await ctx.sleep(ms);
      ctx.set("value", value);
      note(`${ctx.key} out`);
      return value;
    },
    append: async (ctx, word) => {
      ctx.set("words", [...((await ctx.get("words")) ?? []), word]);
    },
    clear: async (ctx) => ctx.clearAll(),
    hold: async (ctx, id) => {
      note(`${id} hold`);
      await ctx.run("hold", () => held(id));
    },
    get: restate.handlers.object.shared(async (ctx) => (await ctx.get("value")) ?? 0),
    words: restate.handlers.object.shared(async (ctx) => (await ctx.get("words")) ?? []),
    keys: restate.handlers.object.shared(async (ctx) => (await ctx.stateKeys()).toSorted()),
    meet: restate.handlers.object.shared(async (_ctx, id) => {
      note(`${id} meet`);
      await held(id);
      return "met";
    }),
  },
});

const lazy = restate.object({
  name: "Lazy",
  options: { enableLazyState: true },
  handlers: {
    put: async (ctx, [name, value]) => ctx.set(name, value),
    take: async (ctx, name) => {
      const value = await ctx.get(name);
      ctx.clear(name);
      return value ?? null;
    },
    keys: async (ctx) => (await ctx.stateKeys()).toSorted(),
  },
});

// For other handlers, unless an operator says otherwise.
const inner = restate.service({
  name: "Inner",
  options: { ingressPrivate: true },
  handlers: {
    echo: async (_ctx, value) => value,
    hidden: restate.handlers.handler({ ingressPrivate: true }, async () => "hidden"),
  },
});

const waiting = waitingServices({ restate, note, times, isReleased });
const services = [greeter, counter, lazy, inner, ...waiting];
const handler = restate.createEndpointHandler({ services, bidirectional: mode === "h2" });
// Options of a server that speaks TLS.
const tls = JSON.parse(process.env["ENDPOINT_TLS"] ?? "null");
const makers = tls
  ? { h2: http2.createSecureServer, h1: https.createServer }
  : { h2: http2.createServer, h1: http.createServer };
const server = makers[mode](...(tls ? [tls] : []), handler);
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
process.stdout.write("ready\n");
