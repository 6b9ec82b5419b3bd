// Handlers for the mixed load.
import { note, restate, serve } from "../support/sdk.mjs";

const { shared } = restate.handlers.workflow;

/** A step whose value no other attempt repeats: what was journaled is told from what was not. */
const step = (ctx, id, name) =>
  ctx.run(name, () => {
    const value = `${Math.random()}`;
    note(`${id} ${name} ${value}`);
    return value;
  });
const clientOf = (ctx, key) => ctx.objectClient({ name: "Sum" }, key);
// Who asks to cancel asks again when a crash kept the answer back, and a second cancel ends the next
// await: what must be done whatever comes is sent, not called.
const sendSum = (ctx, key, delta) => ctx.objectSendClient({ name: "Sum" }, key).add(delta);

const counter = restate.object({
  name: "Sum",
  handlers: {
    add: async (ctx, delta) => {
      const value = ((await ctx.get("value")) ?? 0) + delta;
      ctx.set("value", value);
      return value;
    },
    // Between reading and writing there is time for another to come in, if the lock let it.
    slowAdd: async (ctx, { id, delta, ms }) => {
      const value = ((await ctx.get("value")) ?? 0) + delta;
      await step(ctx, id, "step-0");
      await ctx.sleep(ms);
      ctx.set("value", value);
      return value;
    },
    // Keeps the key until it is killed.
    occupy: async (ctx, id) => {
      await step(ctx, id, "occupied");
      await ctx.sleep(600_000);
      ctx.set("value", -1_000_000);
    },
  },
});

const work = restate.service({
  name: "Work",
  handlers: {
    steps: async (ctx, { id, count }) => {
      const seen = [];
      for (let i = 0; i < count; i++) seen.push(await step(ctx, id, `step-${i}`));
      return seen;
    },
    callSum: async (ctx, { key, count }) => {
      for (let i = 0; i < count; i++) await clientOf(ctx, key).add(1);
      return "called";
    },
    sendSum: async (ctx, { key, count, delayMs }) => {
      const options = restate.rpc.sendOpts({ delay: delayMs });
      for (let i = 0; i < count; i++) {
        ctx.objectSendClient({ name: "Sum" }, key).add(1, options);
      }
      return "sent";
    },
    // Waits for somebody outside, and counts what it is told.
    awaken: async (ctx, { id, key }) => {
      const { id: awakeable, promise } = ctx.awakeable();
      note(`${id} awakeable ${awakeable}`);
      try {
        const delta = await promise;
        await clientOf(ctx, key).add(delta);
        return delta;
      } catch (cause) {
        if (cause.name === "CancelledError") throw cause;
        return `rejected: ${cause.message}`;
      }
    },
    // Waits for two signals of another handler.
    listen: async (ctx, { id, key }) => {
      await step(ctx, id, "listening");
      const seen = [await ctx.signal("first"), await ctx.signal("second")];
      await clientOf(ctx, key).add(seen[0] + seen[1]);
      return seen;
    },
    tell: async (ctx, { target, name, value }) => {
      ctx.invocation(target).signal(name).resolve(value);
      return "told";
    },
    // Waits for a child that waits for ever. Cancelled, both clean up.
    parent: async (ctx, { id, key }) => {
      try {
        await step(ctx, id, "begun");
        return await ctx.serviceClient({ name: "Work" }).child({ id: `${id}-child`, key });
      } catch (cause) {
        if (!(cause instanceof restate.TerminalError)) throw cause;
        sendSum(ctx, key, 1);
        throw cause;
      }
    },
    child: async (ctx, { id, key }) => {
      try {
        note(`${id} is ${ctx.request().id}`);
        await step(ctx, id, "begun");
        await ctx.sleep(600_000);
      } catch (cause) {
        if (!(cause instanceof restate.TerminalError)) throw cause;
        sendSum(ctx, key, 10);
        throw cause;
      }
    },
    // Many short awaits: places to pause at.
    stroll: async (ctx, { id, key, count }) => {
      const seen = [];
      for (let i = 0; i < count; i++) {
        seen.push(await step(ctx, id, `step-${i}`));
        await ctx.sleep(10);
      }
      await clientOf(ctx, key).add(1);
      return seen;
    },
  },
});

const flow = restate.workflow({
  name: "Flow",
  handlers: {
    run: async (ctx, { id, key }) => {
      ctx.set("begun", true);
      const first = await step(ctx, id, "step-0");
      const delta = await ctx.promise("go");
      await clientOf(ctx, key).add(delta);
      ctx.set("delta", delta);
      return { first, delta };
    },
    // Two may try: one is told that it was too late.
    go: shared(async (ctx, delta) => {
      try {
        await ctx.promise("go").resolve(delta);
        return true;
      } catch (cause) {
        if (cause.code !== 409) throw cause;
        return false;
      }
    }),
    hear: shared(async (ctx) => await ctx.promise("go")),
    delta: shared(async (ctx) => (await ctx.get("delta")) ?? null),
  },
});

await serve([counter, work, flow]);
