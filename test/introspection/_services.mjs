// Handlers that leave every kind of row behind. Usage: node _services.mjs PORT
// HTTP/2 cleartext, bidirectional.
import http from "node:http";
import http2 from "node:http2";

// The SDK needs it and Node 20 lacks it: without, every invocation hangs.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const restate = await import("@restatedev/restate-sdk");
const HOUR_MS = 3_600_000;

const greeter = restate.service({
  name: "Greeter",
  handlers: {
    greet: async (_ctx, name) => `Hello ${name}`,
    fail: async () => {
      throw new restate.TerminalError("card declined", { errorCode: 409 });
    },
    breaks: async () => {
      throw new restate.TerminalError("no code given");
    },
    flaky: async (ctx) => {
      await ctx.run("call-upstream", () => {
        throw new Error("upstream 503");
      });
    },
    pauser: restate.handlers.handler(
      { retryPolicy: { maxAttempts: 2, initialInterval: 10, onMaxAttempts: "pause" } },
      async () => {
        throw new Error("always fails");
      },
    ),
    sleeper: async (ctx) => {
      await ctx.sleep(HOUR_MS, "nap");
    },
    awaits: async (ctx) => await ctx.awakeable().promise,
    hang: async () => await new Promise(() => {}),
    // One of each command that a service can send.
    all: async (ctx, invocation) => {
      const seen = [];
      seen.push(await ctx.run("ok", () => ({ n: 1 })));
      await ctx.run("void", () => {});
      try {
        await ctx.run("bad", () => {
          throw new restate.TerminalError("no", { errorCode: 418 });
        });
      } catch (cause) {
        seen.push(cause.message);
      }
      await ctx.sleep(1, "nap");
      seen.push(await ctx.serviceClient(greeter).greet("you"));
      seen.push(await ctx.objectClient(cart, "alice").add(1));
      try {
        await ctx.serviceClient(greeter).fail();
      } catch (cause) {
        seen.push(cause.message);
      }
      const sent = ctx.serviceSendClient(greeter).greet(
        "later",
        restate.rpc.sendOpts({ delay: HOUR_MS, idempotencyKey: "once" }),
      );
      const id = await sent.invocationId;
      const other = ctx.genericSend({
        service: "Greeter",
        method: "greet",
        parameter: new TextEncoder().encode('"x"'),
        headers: { "x-trace": "7" },
      });
      seen.push(await ctx.attach(await other.invocationId));
      const { id: awakeable, promise } = ctx.awakeable();
      ctx.resolveAwakeable(awakeable, { yes: true });
      seen.push(await promise);
      ctx.rejectAwakeable(ctx.awakeable().id, "no thanks");
      ctx.cancel(id);
      if (invocation) ctx.cancel(invocation);
      return seen;
    },
  },
});

const cart = restate.object({
  name: "Cart",
  handlers: {
    add: async (ctx, n) => {
      const total = (await ctx.get("total") ?? 0) + n;
      ctx.set("total", total);
      await ctx.stateKeys();
      ctx.set("bin", new Uint8Array([1, 2, 255]), restate.serde.binary);
      ctx.set("gone", 1);
      ctx.clear("gone");
      return total;
    },
    lazy: restate.handlers.object.exclusive({ enableLazyState: true }, async (ctx) => {
      await ctx.get("total");
      await ctx.get("missing");
      return await ctx.stateKeys();
    }),
    wipe: async (ctx) => {
      ctx.clearAll();
    },
    hold: async (ctx) => {
      await ctx.sleep(HOUR_MS);
    },
    peek: restate.handlers.object.shared(async (ctx) => await ctx.get("total")),
  },
});

const signup = restate.workflow({
  name: "Signup",
  handlers: {
    run: async (ctx) => {
      await ctx.promise("done").peek();
      await ctx.promise("done").resolve("ok");
      await ctx.promise("failed").reject("bad luck");
      await ctx.promise("done").get();
      try {
        await ctx.promise("failed").get();
      } catch {
        // As it should be.
      }
      return await ctx.promise("wait").get();
    },
    finish: async (ctx, value) => {
      await ctx.promise("wait").resolve(value);
    },
  },
});

// HTTP/2, or as `h1` as the second argument HTTP/1.1, which is request-response.
const isH1 = process.argv[3] === "h1";
const handler = restate.createEndpointHandler({
  services: [greeter, cart, signup],
  identityKeys: [],
  bidirectional: !isH1,
});
(isH1 ? http.createServer(handler) : http2.createServer(handler))
  .listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));
