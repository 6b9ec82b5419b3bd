// Handlers for big things.
import { note, restate, serve } from "../support/sdk.mjs";

const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const binary = { input: restate.serde.binary, output: restate.serde.binary };
const { RestatePromise } = restate;

const big = restate.service({
  name: "Big",
  handlers: {
    one: async (_ctx, number) => number,
    echo: restate.handlers.handler(binary, async (_ctx, bytes) => bytes),
    measure: restate.handlers.handler(
      { input: restate.serde.binary },
      async (ctx, bytes) => ctx.run("note", () => note(`measured ${bytes.length} ${bytes.at(-1)}`)),
    ),
    // Passes what it was given on to another, and answers what that one answers.
    pass: restate.handlers.handler(binary, async (ctx, parameter) =>
      await ctx.genericCall({
        service: "Big",
        method: "echo",
        parameter,
        inputSerde: restate.serde.binary,
        outputSerde: restate.serde.binary,
      })),
    steps: async (ctx, { id, count }) => {
      let sum = 0;
      for (const i of numbers(count)) {
        sum += await ctx.run(`step ${i}`, () => {
          note(`${id} step-${i} ${i}`);
          return i;
        });
      }
      return sum;
    },
    // A journal of many MiB: each step is as large as it is told.
    heavy: async (ctx, { id, count, mib }) => {
      let bytes = 0;
      for (const i of numbers(count)) {
        const step = await ctx.run(`step ${i}`, () => {
          note(`${id} step-${i} ${i}`);
          return new Uint8Array(mib * 1024 * 1024).fill(i);
        }, { serde: restate.serde.binary });
        bytes += step.length;
      }
      return bytes;
    },
    fan: async (ctx, count) => {
      const client = ctx.serviceClient({ name: "Big" });
      const answers = await RestatePromise.all(numbers(count).map((i) => client.one(i)));
      return answers.reduce((sum, one) => sum + one, 0);
    },
    awakeables: async (ctx, { id, count }) => {
      const made = numbers(count).map(() => ctx.awakeable());
      await ctx.run("announce", () => note(`${id} ids ${made.map((one) => one.id).join(",")}`));
      const answers = await RestatePromise.all(made.map((one) => one.promise));
      return answers.reduce((sum, one) => sum + one, 0);
    },
  },
});

const bloated = restate.service({
  name: "Bloated",
  handlers: {
    // Answers more than a message may hold.
    inflate: restate.handlers.handler(
      { output: restate.serde.binary },
      async (ctx, mib) => {
        await ctx.run("begin", () => {});
        return new Uint8Array(mib * 1024 * 1024);
      },
    ),
  },
  options: { retryPolicy: { initialInterval: 100, maxAttempts: 4, onMaxAttempts: "pause" } },
});

const store = (name, options) =>
  restate.object({
    name,
    options,
    handlers: {
      fill: async (ctx, { count, bytes }) => {
        for (const i of numbers(count)) ctx.set(`key-${i}`, "x".repeat(bytes));
        return count;
      },
      list: restate.handlers.object.shared(async (ctx) => (await ctx.stateKeys()).length),
      // Reads one in a hundred.
      sample: restate.handlers.object.shared(async (ctx, count) => {
        let bytes = 0;
        for (let i = 0; i < count; i += 100) bytes += (await ctx.get(`key-${i}`)).length;
        return bytes;
      }),
      clear: async (ctx) => ctx.clearAll(),
    },
  });

await serve([big, bloated, store("Eager", {}), store("Deferred", { enableLazyState: true })]);
