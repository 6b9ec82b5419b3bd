import * as restate from "@restatedev/restate-sdk";
import { outcome } from "./handlers_world.mjs";

const { shared } = restate.handlers.object;

/** Objects (`Store`, `LazyStore`, `SleepyStore`) and workflows (`Flow`, `SleepyFlow`). */
export function keyedServices(world) {
  const object = (name, options = {}) =>
    restate.object({
      name: world.named(name),
      handlers: { ...writers(), ...strugglers(world), ...steps(world), ...readers(world) },
      options,
    });
  const workflow = (name, options = {}) =>
    restate.workflow({ name: world.named(name), handlers: flow(world), options });
  return [
    object("Store"),
    object("LazyStore", { enableLazyState: true }),
    object("SleepyStore", { inactivityTimeout: 100 }),
    object("StrictStore", { inactivityTimeout: 100, abortTimeout: 200 }),
    workflow("Flow"),
    workflow("SleepyFlow", { inactivityTimeout: 100 }),
  ];
}

async function contents(ctx) {
  const names = (await ctx.stateKeys()).toSorted();
  const entries = [];
  for (const name of names) entries.push([name, await ctx.get(name)]);
  return Object.fromEntries(entries);
}

const writers = () => ({
  put: async (ctx, entries) => {
    for (const [name, value] of Object.entries(entries)) ctx.set(name, value);
  },
  // Reads one by one, without asking for the keys.
  take: async (ctx, names) => {
    const seen = [];
    for (const name of names) seen.push(await ctx.get(name));
    return seen;
  },
  sequence: async (ctx) => {
    ctx.set("a", 1);
    ctx.set("b", 2);
    ctx.clear("a");
    ctx.set("b", 3);
    ctx.set("c", 4);
  },
  sequenceAll: async (ctx) => {
    ctx.set("x", 1);
    ctx.clearAll();
    ctx.set("y", 2);
    ctx.set("z", 3);
    ctx.clear("z");
  },
  many: async (ctx, count) => {
    for (let i = 0; i < count; i++) ctx.set(`k${i}`, i);
    return count;
  },
});

const strugglers = ({ note, times, held }) => ({
  // Reads, writes, and fails `failures` times.
  writeThenFail: async (ctx, { id, value, failures }) => {
    const before = await ctx.get("value");
    ctx.set("value", value);
    await ctx.run("written", () => note(`${id} written`));
    note(`${id} attempt`);
    if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
    return [before, await ctx.get("value")];
  },
  nap: async (ctx, { id, ms, failures = 0 }) => {
    note(`${id} attempt`);
    await ctx.run("in", () => note(`${ctx.key} in ${id}`));
    if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
    if (ms > 0) await ctx.sleep(ms);
    await ctx.run("out", () => note(`${ctx.key} out ${id}`));
    return id;
  },
  hold: async (ctx, id) => {
    note(`${id} hold`);
    await ctx.run("hold", () => held(id));
    return id;
  },
  // Its first attempt is too late: it writes after it was given up.
  late: async (ctx, id) => {
    note(`${id} attempt`);
    if (times(`${id} attempt`) > 1) return "second";
    await held(id);
    ctx.set("late", true);
    note(`${id} late`);
    return "first";
  },
});

const steps = ({ note, times, held }) => ({
  // A step of which each execution waits for permission of its own, `<id>-1` and so on.
  step: async (ctx, id) =>
    await ctx.run("step", async () => {
      note(`${id} begins`);
      const number = times(`${id} begins`);
      await held(`${id}-${number}`);
      note(`${id} ends`);
      return number;
    }),
});

const readers = ({ note, held }) => ({
  all: shared(contents),
  meet: shared(async (_ctx, id) => {
    note(`${id} meet`);
    await held(id);
    return "met";
  }),
});

const flow = ({ note }) => ({
  // Awaits the promise "go".
  run: async (ctx, id) => {
    ctx.set("started", id);
    await ctx.run("started", () => note(`${id} run`));
    const got = await outcome(ctx.promise("go").get());
    ctx.set("done", true);
    return { id, ...got };
  },
  resolve: restate.handlers.workflow.shared(async (ctx, value) =>
    await outcome(ctx.promise("go").resolve(value))
  ),
  reject: restate.handlers.workflow.shared(async (ctx, message) =>
    await outcome(ctx.promise("go").reject(message))
  ),
  // Throws what the promise says.
  strictResolve: restate.handlers.workflow.shared(async (ctx, value) => {
    await ctx.promise("go").resolve(value);
  }),
  peek: restate.handlers.workflow.shared(async (ctx) => (await ctx.promise("go").peek()) ?? null),
  wait: restate.handlers.workflow.shared(async (ctx) => await outcome(ctx.promise("go").get())),
  state: restate.handlers.workflow.shared(contents),
});
