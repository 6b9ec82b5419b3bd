// More handlers of `services.mjs`: those who wait for somebody, and those who are given up.

/** How a promise ended, as a value. What was canceled is thrown on. */
async function outcome(promise) {
  try {
    return { value: (await promise) ?? null };
  } catch (cause) {
    if (cause.name === "CancelledError" || typeof cause.code !== "number") throw cause;
    return { code: cause.code, message: cause.message };
  }
}

/** `world`: the SDK, and side effects as `services.mjs` has them. */
export function waitingServices(world) {
  return [waiter(world), flow(world), fragile(world)];
}

const waiter = (world) => {
  const handlers = { ...awakeables(world), ...signals(world), ...others(world) };
  return world.restate.service({ name: "Waiter", handlers });
};

const awakeables = ({ note }) => ({
  // Makes `count` awakeables, says their ids, and waits for one after the other.
  awakeables: async (ctx, { id, count }) => {
    const made = Array.from({ length: count }, () => ctx.awakeable());
    await ctx.run(
      "announce",
      () => made.forEach((one, i) => note(`${id} awakeable ${i} ${one.id}`)),
    );
    const seen = [];
    for (const one of made) seen.push(await outcome(one.promise));
    return seen;
  },
  resolve: async (ctx, { awakeable, value }) => ctx.resolveAwakeable(awakeable, value),
  reject: async (ctx, { awakeable, reason }) => ctx.rejectAwakeable(awakeable, reason),
});

const signals = ({ note }) => ({
  signals: async (ctx, { id, names }) => {
    await ctx.run("started", () => note(`${id} started`));
    const seen = [];
    for (const name of names) seen.push(await outcome(ctx.signal(name)));
    return seen;
  },
  sendSignal: async (ctx, { target, name, value, reason }) => {
    const signal = ctx.invocation(target).signal(name);
    if (reason === undefined) signal.resolve(value);
    else signal.reject(reason);
  },
});

const others = ({ note, times }) => ({
  // Sleeps for ever; when it is canceled, it takes a step and ends well.
  cleanup: async (ctx, id) => {
    try {
      await ctx.run("before", () => note(`${id} asleep`));
      await ctx.sleep(3_600_000);
    } catch (cause) {
      await ctx.run("caught", () => note(`${id} caught ${cause.code}`));
      return "clean";
    }
  },
  // Draws in each of two attempts, and says what.
  draw: async (ctx, id) => {
    const before = times(`${id} attempt`);
    note(`${id} drew ${ctx.rand.uuidv4()} ${ctx.rand.random()}`);
    note(`${id} attempt`);
    if (before === 0) throw new Error(`${id} is not ready`);
  },
  // Calls one that sleeps, and says which invocation that is.
  callNap: async (ctx, { id, ms }) => {
    const promise = ctx.serviceClient({ name: "Greeter" }).nap({ id, ms });
    note(`${id} called ${await promise.invocationId}`);
    return await promise;
  },
});

const flow = ({ restate, note }) => {
  const { shared } = restate.handlers.workflow;
  return restate.workflow({
    name: "Flow",
    handlers: {
      // Waits for the promise "go".
      run: async (ctx, id) => {
        await ctx.run("started", () => note(`${id} run`));
        return { id, ...(await outcome(ctx.promise("go").get())) };
      },
      resolve: shared(async (ctx, value) => await outcome(ctx.promise("go").resolve(value))),
      reject: shared(async (ctx, reason) => await outcome(ctx.promise("go").reject(reason))),
      peek: shared(async (ctx) => (await ctx.promise("go").peek()) ?? null),
      wait: shared(async (ctx) => await outcome(ctx.promise("go").get())),
    },
  });
};

const fragile = ({ restate, note, isReleased }) => {
  const retryPolicy = { initialInterval: 20, maxAttempts: 2 };
  const fail = async (_ctx, id) => {
    note(`${id} attempt`);
    if (!isReleased(id)) throw new Error(`${id} is not ready`);
    return "healed";
  };
  const { handler } = restate.handlers;
  return restate.service({
    name: "Fragile",
    handlers: {
      pauses: handler({ retryPolicy: { ...retryPolicy, onMaxAttempts: "pause" } }, fail),
      fails: handler({ retryPolicy: { ...retryPolicy, onMaxAttempts: "kill" } }, fail),
    },
  });
};
