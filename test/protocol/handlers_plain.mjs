import * as restate from "@restatedev/restate-sdk";
import { outcome } from "./handlers_world.mjs";

const { RestatePromise, TerminalError } = restate;

/**
 * The same handlers under several options: `Plain` has none, `Sleepy` suspends at once, `Strict`
 * is aborted at once, `Slow` backs off for long, `Fragile` pauses at its second failure.
 */
export function plainServices(world) {
  const parts = [basics, newer, runs, stubborn, calls, scopes, naps, awakeables, signals, combined];
  const handlers = Object.assign({}, ...parts.map((part) => part(world)));
  const service = (name, options = {}) =>
    restate.service({ name: world.named(name), handlers, options });
  return [
    service("Plain"),
    service("Sleepy", { inactivityTimeout: 100 }),
    service("Strict", { inactivityTimeout: 100, abortTimeout: 200 }),
    service("Slow", { retryPolicy: { initialInterval: 1_500, maxInterval: 1_500 } }),
    service("Fragile", {
      inactivityTimeout: 100,
      retryPolicy: { initialInterval: 20, maxAttempts: 2, onMaxAttempts: "pause" },
    }),
    shouting(world),
  ];
}

/** Stored in upper case, shown as JSON `{"text":…}` in lower case. "STOP" cannot be shown. */
const shout = {
  contentType: "text/shout",
  serialize: (text) => new TextEncoder().encode(text.toUpperCase()),
  deserialize: (bytes) => new TextDecoder().decode(bytes).toLowerCase(),
  preview: {
    toJsonString: (text) => {
      if (text === "stop") throw new Error("it cannot be shown");
      return JSON.stringify({ text });
    },
    fromJsonString: (json) => JSON.parse(json).text,
  },
};

const shouting = ({ named }) =>
  restate.service({
    name: named("Shouting"),
    handlers: {
      greet: restate.handlers.handler({ input: shout, output: shout }, async (_ctx, text) => text),
      plain: async () => {},
    },
  });

const basics = ({ note, times, held, isReleased, revision }) => ({
  echo: async (_ctx, value) => value,
  revision: async () => revision,
  headers: async (ctx, { id, failures = 0 }) => {
    note(`${id} attempt`);
    if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
    return [...ctx.request().headers];
  },
  random: async (ctx, { id, failures = 0 }) => {
    const seen = [ctx.rand.uuidv4(), ctx.rand.random()];
    note(`${id} attempt`);
    note(`${id} random ${JSON.stringify(seen)}`);
    if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
    return seen;
  },
  refuse: async (_ctx, { message, code, metadata }) => {
    throw new TerminalError(message, { errorCode: code, ...(metadata ? { metadata } : {}) });
  },
  // Fails until released: backs off, or pauses where the policy says so.
  fail: async (ctx, { id, failures = Infinity }) => {
    await ctx.run("before", () => note(`${id} before`));
    note(`${id} attempt`);
    if (times(`${id} attempt`) <= failures) throw new Error(`${id} is not ready`);
    return await outcome(ctx.sleep(0));
  },
  // Fails before anything is stored, until released. Says which revision it was.
  unready: async (_ctx, id) => {
    note(`${id} unready`);
    if (!isReleased(id)) throw new Error(`${id} is not ready`);
    return revision;
  },
  // Awaits nothing the server knows of.
  hold: async (_ctx, id) => {
    note(`${id} hold`);
    await held(id);
    note(`${id} released`);
    return id;
  },
});

/** What newer code has besides. */
const newer = ({ revision }) => Number(revision) > 1 ? { added: async () => revision } : {};

const runs = ({ note, times, held }) => ({
  // Steps one after the other; those in `hold` wait for permission under `<id>-<name>`.
  steps: async (ctx, { id, names, hold = [] }) => {
    const seen = [];
    for (const name of names) {
      seen.push(
        await ctx.run(name, async () => {
          note(`${id} ${name}`);
          if (hold.includes(name)) await held(`${id}-${name}`);
          return `${name}-${times(`${id} ${name}`)}`;
        }),
      );
    }
    return seen;
  },
  // A step, a call and a sleep.
  mixed: async (ctx, id) => {
    const step = await ctx.run("step", () => (note(`${id} step`), "step"));
    const call = await ctx.genericCall(jsonCall({
      service: ctx.request().target.service,
      method: "echo",
      parameter: "call",
    }));
    await ctx.sleep(20);
    return [step, call, "slept"];
  },
});

const stubborn = ({ note, isReleased }) => ({
  runPolicy: async (ctx, { id, attempts }) =>
    await outcome(ctx.run("doomed", () => {
      note(`${id} doomed`);
      throw new Error("never");
    }, { maxRetryAttempts: attempts, initialRetryInterval: 20, maxRetryInterval: 20 })),
  // Takes another path once it is released.
  changing: async (ctx, id) => {
    if (isReleased(`${id}-changed`)) await ctx.sleep(1, "changed");
    else await ctx.run("original", () => note(`${id} original`));
    note(`${id} attempt`);
    if (!isReleased(id)) throw new Error(`${id} is not ready`);
    return "healed";
  },
});

const jsonCall = (call) => ({
  inputSerde: restate.serde.json,
  outputSerde: restate.serde.json,
  ...call,
});

const calls = ({ note }) => ({
  // Calls one after the other: the ids and outcomes.
  calls: async (ctx, list) => {
    const seen = [];
    for (const call of list) {
      const promise = ctx.genericCall(jsonCall(call));
      const id = await promise.invocationId;
      seen.push({ id, ...(await outcome(promise)) });
    }
    return seen;
  },
  sends: async (ctx, list) => {
    const seen = [];
    for (const call of list) seen.push(await ctx.genericSend(jsonCall(call)).invocationId);
    return seen;
  },
  // Sends to `sent` one way, then awaits `called`; both get this service's `method`.
  parent: async (ctx, { id, called, sent, method = "nap" }) => {
    const { service } = ctx.request().target;
    const head = { service, method };
    const handle = ctx.genericSend(jsonCall({ ...head, parameter: sent }));
    note(`${id} sent ${await handle.invocationId}`);
    const promise = ctx.genericCall(jsonCall({ ...head, parameter: called }));
    note(`${id} called ${await promise.invocationId}`);
    return await promise;
  },
  attach: async (ctx, id) => await outcome(ctx.attach(id)),
  cancelOther: async (ctx, id) => ctx.cancel(id),
});

const scopes = ({ note, held }) => ({
  // What this invocation was called with, but for its input.
  request: async (ctx) => {
    const { scope, limitKey, idempotencyKey } = ctx.request();
    return { scope, limitKey, idempotencyKey };
  },
  // The same, once it is released. It has stored a step before.
  requestHeld: async (ctx, id) => {
    await ctx.run("before", () => {});
    note(`${id} held`);
    await held(id);
    const { scope, limitKey } = ctx.request();
    return { id, scope, limitKey };
  },
  // Calls `request` of this service in a scope, by the typed client.
  callInScope: async (ctx, { scope, limitKey }) => {
    const { service: name } = ctx.request().target;
    return await ctx.scope(scope).serviceClient({ name }).request(restate.rpc.opts({ limitKey }));
  },
});

const naps = ({ note }) => ({
  nap: async (ctx, { id, ms }) => {
    await ctx.run("before", () => note(`${id} before`));
    note(`${id} asleep`);
    await ctx.sleep(ms);
    await ctx.run("after", () => note(`${id} after`));
    return id;
  },
  // Sleeps, and when cancelled cleans up, which takes `ms`.
  cleanup: async (ctx, { id, ms }) => {
    note(`${id} attempt`);
    try {
      await ctx.run("before", () => note(`${id} asleep`));
      await ctx.sleep(60_000);
    } catch (cause) {
      await ctx.run("caught", () => note(`${id} caught ${cause.code} ${cause.message}`));
      await ctx.sleep(ms);
      return "clean";
    }
  },
});

const awakeables = ({ note }) => ({
  // Makes `count` awakeables, and awaits them one after the other in `order`.
  awakeables: async (ctx, { id, count, order }) => {
    const made = Array.from({ length: count }, () => ctx.awakeable());
    await ctx.run(
      "announce",
      () => made.forEach((one, i) => note(`${id} awakeable ${i} ${one.id}`)),
    );
    const seen = [];
    for (const i of order ?? made.keys()) seen[i] = await outcome(made[i].promise);
    return seen;
  },
  resolve: async (ctx, { awakeable, value }) => ctx.resolveAwakeable(awakeable, value),
  reject: async (ctx, { awakeable, reason }) => ctx.rejectAwakeable(awakeable, reason),
});

const signals = ({ note, held }) => ({
  // Sleeps or is held first, then awaits the signals in turn.
  signals: async (ctx, { id, names, napMs = 0, hold = false }) => {
    await ctx.run("started", () => note(`${id} started ${ctx.request().id}`));
    if (napMs > 0) await ctx.sleep(napMs);
    if (hold) await ctx.run("hold", () => held(id));
    const seen = [];
    for (const name of names) seen.push(await outcome(ctx.signal(name)));
    return seen;
  },
  sendSignal: async (ctx, { target, name, value, reason }) => {
    const signal = ctx.invocation(target).signal(name);
    if (reason === undefined) signal.resolve(value);
    else signal.reject(reason);
    return "sent";
  },
});

const combined = ({ note }) => ({
  // Awaits `count` awakeables together. `how`: all, race, any or allSettled.
  combine: async (ctx, { id, how, count }) => {
    const made = Array.from({ length: count }, () => ctx.awakeable());
    await ctx.run(
      "announce",
      () => made.forEach((one, i) => note(`${id} awakeable ${i} ${one.id}`)),
    );
    note(`${id} waits`);
    return await outcome(RestatePromise[how](made.map((one) => one.promise)));
  },
  timeout: async (ctx, { id, ms }) => {
    const made = ctx.awakeable();
    await ctx.run("announce", () => note(`${id} awakeable 0 ${made.id}`));
    return await outcome(made.promise.orTimeout(ms));
  },
});
