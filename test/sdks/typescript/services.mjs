// Every service of the endpoint, for any entry and version of the SDK: services(restate, clients).
import { clientHandlers } from "./client.mjs";
import { plainHandlers } from "./plain.mjs";
import { LACKING, outcome, times } from "./shared.mjs";

const DAY_MS = 86_400_000;
const RETRY = {
  initialInterval: 20,
  maxInterval: 40,
  exponentiationFactor: 1.5,
  maxAttempts: 3,
  onMaxAttempts: "pause",
};

const SERVICE_OPTIONS = {
  idempotencyRetention: { days: 2 },
  journalRetention: { days: 3 },
  inactivityTimeout: 61_000,
  abortTimeout: { minutes: 2 },
  retryPolicy: RETRY,
};

const HANDLER_OPTIONS = {
  accept: "text/*, image/*",
  description: "With options",
  metadata: { a: "b" },
  idempotencyRetention: { hours: 1 },
  journalRetention: DAY_MS,
  inactivityTimeout: { seconds: 30 },
  abortTimeout: 45_000,
  retryPolicy: RETRY,
};

/** Interceptors that fail after a step, and turn a failure into another. */
const hooksOf = ({ TerminalError }) => [({ request }) => ({
  interceptor: {
    handler: async (next) => {
      try {
        await next();
      } catch (cause) {
        if (cause.message !== "hooked") throw cause;
        throw new TerminalError(`hook of ${request.target}`, { errorCode: 423 });
      }
    },
    run: async (name, next) => {
      await next();
      if (name === "hooked") throw new TerminalError("after the step");
    },
  },
})];

const described = ({ service, handlers: { handler }, serde, TerminalError, RetryableError }) => {
  class Own extends Error {}
  const asTerminalError = (cause) => {
    if (cause instanceof Own) {
      return new TerminalError(`own: ${cause.message}`, { errorCode: 422 });
    }
  };
  const input = { ...serde.json, jsonSchema: { type: "string" } };
  return service({
    name: "TsOptions",
    description: "All options",
    metadata: { team: "blue" },
    handlers: {
      plain: async (_ctx, value) => value,
      own: () => Promise.reject(new Own("it")),
      hooked: async (ctx) => {
        const step = await outcome(ctx.run("hooked", () => "step"));
        if (step.value) return LACKING;
        throw new Error("hooked");
      },
      fragile: async (_ctx, key) => {
        if (times(`fragile ${key}`) <= 3) throw new Error("not yet");
        return "resumed";
      },
      killed: handler(
        { retryPolicy: { ...RETRY, onMaxAttempts: "kill" } },
        () => RetryableError ? Promise.reject(new Error("never")) : LACKING,
      ),
      hidden: handler({ ingressPrivate: true }, async () => "seen"),
      options: handler({ ...HANDLER_OPTIONS, input }, async () => {}),
    },
    options: {
      ...SERVICE_OPTIONS,
      asTerminalError,
      hooks: hooksOf({ TerminalError }),
    },
  });
};

/** Handlers whose journal differs at each attempt, by what the SDK is to do about it. */
const changing = ({ service }, reaction) =>
  service({
    name: `TsMismatch${reaction}`,
    handlers: {
      changes: async (ctx, key) => {
        const attempt = times(`${reaction} ${key}`);
        if (attempt === 2) await ctx.sleep(1);
        else await ctx.run("first", () => "first");
        if (attempt === 1) throw new Error("once more");
        return attempt;
      },
    },
    options: {
      retryPolicy: { initialInterval: 20, maxInterval: 20 },
      onJournalMismatchErrors: reaction.toLowerCase(),
    },
  });

const explicit = ({ service }) =>
  service({
    name: "TsExplicit",
    handlers: {
      waits: async (ctx) => {
        if (!ctx.cancellation) return LACKING;
        const call = ctx.serviceClient({ name: "TsPlain" }).naps(600_000);
        await call.invocationId;
        await ctx.cancellation();
        const ids = await ctx.cancelPreviousCalls();
        return [ids.length, await outcome(call)];
      },
    },
    options: { explicitCancellation: true },
  });

/** All that can be done to state; fails once in the middle. */
const tourOf = (serde) => async (ctx, key) => {
  const made = [await ctx.get("none")];
  ctx.set("a", { deep: [1, null] });
  ctx.set("bytes", new Uint8Array([0, 255]), serde.binary);
  ctx.set("é", "ü");
  made.push(await ctx.get("a"), [...await ctx.get("bytes", serde.binary)]);
  ctx.clear("a");
  made.push(await ctx.get("a"), (await ctx.stateKeys()).sort());
  if (times(`tour ${ctx.key} ${key}`) === 1) throw new Error("once more");
  ctx.clearAll();
  made.push(await ctx.stateKeys(), await ctx.get("é"));
  ctx.set("left", true);
  return made;
};

const stored = ({ object, handlers: { object: kinds }, serde }) => {
  const all = async (ctx) => {
    const names = (await ctx.stateKeys()).sort();
    return await Promise.all(names.map(async (name) => [name, await ctx.get(name)]));
  };
  const handlers = {
    add: async (ctx, n) => {
      const sum = ((await ctx.get("sum")) ?? 0) + n;
      ctx.set("sum", sum);
      return sum;
    },
    set: async (ctx, entries) => Object.entries(entries).forEach(([k, v]) => ctx.set(k, v)),
    tour: tourOf(serde),
    large: async (ctx, bytes) => {
      ctx.set("large", "x".repeat(bytes));
      await ctx.sleep(1);
      return (await ctx.get("large")).length;
    },
    all: kinds.shared(all),
    get: kinds.shared(
      { ingressPrivate: false },
      async (ctx, name) => (await ctx.get(name)) ?? null,
    ),
    key: kinds.shared(async (ctx) => ctx.key),
    holds: kinds.exclusive(
      { inactivityTimeout: { minutes: 1 } },
      async (ctx, ms) => {
        await ctx.sleep(ms);
        return "held";
      },
    ),
  };
  return [
    object({ name: "TsObject", handlers }),
    object({ name: "TsLazy", handlers, options: { enableLazyState: true } }),
  ];
};

const flow = ({ workflow, handlers: { workflow: { shared } } }) =>
  workflow({
    name: "TsFlow",
    handlers: {
      run: async (ctx, { wait }) => {
        ctx.set("stage", "begun");
        if (!wait) return ["key", ctx.key.length];
        const first = await ctx.promise("first");
        ctx.set("stage", "one");
        return [first, await outcome(ctx.promise("second").get())];
      },
      stage: shared(async (ctx) => (await ctx.get("stage")) ?? null),
      peek: shared(async (ctx, name) => (await outcome(ctx.promise(name).peek()))),
      resolve: shared(async (ctx, { name, value }) => outcome(ctx.promise(name).resolve(value))),
      reject: shared(async (ctx, { name, reason }) => outcome(ctx.promise(name).reject(reason))),
      awaits: shared(async (ctx, name) => await outcome(ctx.promise(name).get())),
    },
    options: { workflowRetention: { hours: 3 } },
  });

const declared = ({ iface, implement, serde }) => {
  if (!implement) return [];
  const own = iface.serdes({ input: serde.binary, output: serde.json, description: "Counts" });
  const face = iface.object("TsDeclared", {
    count: own,
    add: iface.json({ metadata: { c: "d" } }),
    sum: iface.shared.json(),
  }, { description: "Declared first", metadata: { a: "b" } });
  return [implement(face, {
    handlers: {
      count: async (ctx, bytes) => [bytes.length, await ctx.client(face, "other").add(2)],
      add: async (ctx, n) => ctx.set("sum", ((await ctx.get("sum")) ?? 0) + n),
      sum: async (ctx) => await ctx.get("sum"),
    },
    options: { handlers: { add: { journalRetention: 1000 } } },
  })];
};

/** All services of `restate`, any entry of the package; `clients` is the ingress client package. */
export const services = (restate, clients) => [
  restate.service({ name: "TsPlain", handlers: plainHandlers(restate) }),
  described(restate),
  ...["Retry", "Pause", "Fail"].map((reaction) => changing(restate, reaction)),
  explicit(restate),
  ...stored(restate),
  flow(restate),
  ...declared(restate),
  ...(clients ? [restate.service({ name: "TsClient", handlers: clientHandlers(clients) })] : []),
];
