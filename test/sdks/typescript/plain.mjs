// Services that use what the SDK of any age offers; what a version lacks answers "not offered".

import { LACKING, memory, outcome, RETRY, reversed, times } from "./shared.mjs";

/** A Standard Schema made by hand: `{ n: number }`. */
const numbered = {
  "~standard": {
    version: 1,
    vendor: "by hand",
    validate: (value) =>
      typeof value?.n === "number" ? { value } : { issues: [{ message: "n is no number" }] },
    jsonSchema: {
      input: () => ({ type: "object", properties: { n: { type: "number" } } }),
      output: () => ({ type: "object", properties: { n: { type: "number" } } }),
    },
  },
};

const payloads = ({ serde, handlers: { handler } }) => ({
  echo: async (_ctx, value) => value,
  nothing: async () => {},
  given: async (_ctx, value) => value === undefined ? "nothing" : typeof value,
  length: async (ctx) => ctx.request().body.length,
  raw: handler(
    { accept: "*/*", input: serde.binary, output: serde.binary },
    async (_ctx, bytes) => new Uint8Array([...bytes, 255]),
  ),
  empty: handler({ input: serde.empty, output: serde.empty }, async () => {}),
  own: handler({ accept: "text/*", input: reversed, output: reversed }, async (_ctx, it) => it),
  strict: handler({ input: reversed, output: serde.json }, async (_ctx, it) => it),
  ...(serde.schema && {
    schema: handler(
      { input: serde.schema(numbered), output: serde.schema(numbered) },
      async (_ctx, it) => it,
    ),
  }),
  large: async (ctx, bytes) => {
    const text = await ctx.run("made", () => "x".repeat(bytes));
    const head = { inputSerde: serde.json, outputSerde: serde.json };
    const back = await ctx.genericCall({
      ...head,
      service: "TsPlain",
      method: "echo",
      parameter: text,
    });
    return back + text;
  },
});

const basics = ({ TerminalError }) => ({
  request: async (ctx) => {
    const { id, headers, body, target, idempotencyKey, scope, limitKey, extraArgs } = ctx.request();
    const mine = [...headers].filter(([name]) => name.startsWith("x-mine"))
      .sort();
    const kind = id.slice(0, 4);
    const extra = Array.isArray(extraArgs);
    return { kind, mine, bytes: body.length, target, idempotencyKey, scope, limitKey, extra };
  },
  clock: async (ctx, key) => {
    const made = [ctx.rand.random(), ctx.rand.uuidv4(), await ctx.date.now()];
    const first = memory(key, made);
    const again = times(`clock ${key}`);
    if (again < 3) throw new Error("not yet");
    return {
      again,
      same: JSON.stringify(first) === JSON.stringify(made),
      json: await ctx.date.toJSON().then((it) => it.length),
    };
  },
  fails: async (_ctx, { message, code, metadata }) => {
    throw new TerminalError(message, { errorCode: code, metadata });
  },
  flaky: async (ctx, { key, failures }) => {
    await ctx.run("before", () => "kept");
    if (times(`flaky ${key}`) <= failures) throw new Error("not yet");
    return times(`flaky ${key}`) - 1;
  },
});

async function goodRuns(ctx, serde) {
  return [
    await ctx.run(() => 1),
    await ctx.run("named", async () => ({ a: "é" })),
    (await ctx.run("nothing", () => {})) ?? null,
    [...await ctx.run("bytes", () => new Uint8Array([0, 255]), { serde: serde.binary })],
    await ctx.run("own", () => "abc", { serde: reversed }),
  ];
}

async function badRuns(ctx, key, TerminalError) {
  const attempts = () => times(`runs ${key}`);
  const made = [];
  const fails = () => {
    throw new TerminalError("over", { errorCode: 418, metadata: { why: "tea" } });
  };
  made.push(await outcome(ctx.run("terminal", fails)));
  const third = () => {
    if (attempts() < 3) throw new Error("not yet");
    return attempts();
  };
  made.push(await outcome(ctx.run("third", third, { ...RETRY, maxRetryAttempts: 5 })));
  const never = () => {
    throw new Error("never");
  };
  made.push(await outcome(ctx.run("tired", never, { ...RETRY, maxRetryAttempts: 2 })));
  const short = { ...RETRY, maxRetryDuration: 50, maxRetryDurationMillis: 50 };
  made.push(await outcome(ctx.run("late", never, short)));
  return made;
}

const stepping = ({ TerminalError, RetryableError, PauseError, serde }) => ({
  runs: async (ctx, key) => [
    ...await goodRuns(ctx, serde),
    ...await badRuns(ctx, key, TerminalError),
  ],
  later: async (ctx, key) => {
    if (!RetryableError) return LACKING;
    return await ctx.run("later", () => {
      const attempt = times(`later ${key}`);
      if (attempt < 3) throw new RetryableError("not yet", { retryAfter: 30 });
      return attempt;
    });
  },
  pauses: async (ctx, key) => {
    if (!PauseError) return LACKING;
    return await ctx.run("pausing", () => {
      if (times(`pauses ${key}`) === 1) throw new PauseError("look at me");
      return "resumed";
    });
  },
  together: async (ctx) => {
    const runs = [1, 2, 3].map((n) => ctx.run(`run ${n}`, async () => n));
    return await Promise.all(runs);
  },
});

const calling = ({ rpc, serde }) => ({
  calls: async (ctx, key) => {
    const plain = ctx.serviceClient({ name: "TsPlain" });
    const object = ctx.objectClient({ name: "TsObject" }, key);
    const flow = ctx.workflowClient({ name: "TsFlow" }, key);
    const once = rpc.opts({ idempotencyKey: `once ${key}`, headers: { "x-mine": "1" } });
    const promise = plain.request(null, once);
    const same = [await promise.invocationId, await plain.request(null, once).invocationId];
    const bytes = rpc.opts({ input: serde.binary, output: serde.binary });
    const made = [
      await promise,
      same[0] === same[1],
      [...await plain.raw(new Uint8Array([1]), bytes)],
      await plain.own("abc", rpc.opts({ input: reversed, output: reversed })),
      await object.add(2),
      await outcome(plain.fails({ message: "no", code: 409, metadata: { a: "b" } })),
      await flow.run({ wait: false }),
      await outcome(flow.run({ wait: false })),
      (await plain.nothing()) ?? null,
    ];
    const generic = { service: "TsObject", method: "add", key, parameter: 3 };
    const json = { inputSerde: serde.json, outputSerde: serde.json };
    const head = { headers: { "x-mine": "2" }, idempotencyKey: `g ${key}`, name: "by hand" };
    made.push(await ctx.genericCall({ ...generic, ...json, ...head }));
    return made;
  },
});

const sending = ({ rpc, serde }) => ({
  sends: async (ctx, key) => {
    const object = ctx.objectSendClient({ name: "TsObject" }, key);
    object.add(1);
    object.add(2, rpc.sendOpts({ delay: 30, headers: { "x-mine": "1" }, name: "delayed" }));
    const once = rpc.sendOpts({ idempotencyKey: `once ${key}` });
    const ids = [object.add(4, once), object.add(4, once)].map((one) => one?.invocationId);
    const [a, b] = await Promise.all(ids);
    ctx.serviceSendClient({ name: "TsPlain" }).nothing();
    ctx.workflowSendClient({ name: "TsFlow" }, key).run({ wait: false });
    const parameter = 8;
    ctx.genericSend({ service: "TsObject", method: "add", key, parameter, inputSerde: serde.json });
    return a === b;
  },
  fan: async (ctx, count) => {
    const plain = ctx.serviceClient({ name: "TsPlain" });
    const all = await Promise.all(Array.from({ length: count }, (_, n) => plain.echo(n)));
    return all.reduce((sum, n) => sum + n, 0);
  },
  naps: async (ctx, ms) => {
    await ctx.sleep(ms);
    return "slept";
  },
});

const canceling = ({ rpc, TerminalError }) => ({
  cancels: async (ctx) => {
    const sent = ctx.serviceSendClient({ name: "TsPlain" }).naps(600_000);
    const id = await sent.invocationId;
    await ctx.sleep(50);
    ctx.cancel(id);
    return await outcome(ctx.attach(id));
  },
  compensates: async (ctx, key) => {
    try {
      await ctx.serviceClient({ name: "TsPlain" }).naps(600_000);
    } catch (cause) {
      if (!(cause instanceof TerminalError)) throw cause;
      await ctx.run("undo", () => "undone");
      const sum = await ctx.objectClient({ name: "TsObject" }, key).add(1);
      return { name: cause.name, code: cause.code, message: cause.message, sum };
    }
  },
  scoped: async (ctx, key) => {
    if (!ctx.scope) return LACKING;
    const limited = rpc.opts({ limitKey: "a/b" });
    return await ctx.scope(key).serviceClient({ name: "TsPlain" }).request(null, limited);
  },
});

const waiting = ({ TerminalError }) => ({
  awaits: async (ctx, key) => {
    const { id, promise } = ctx.awakeable();
    ctx.objectSendClient({ name: "TsObject" }, key).set({ id });
    return await outcome(promise);
  },
  settles: async (ctx, how) => {
    const { id, promise } = ctx.awakeable();
    if (how === "resolve") ctx.resolveAwakeable(id, { by: "itself" });
    else if (how === "void") ctx.resolveAwakeable(id);
    else if (how === "text") ctx.rejectAwakeable(id, "no");
    else if (!ctx.signal) return LACKING;
    else {
      const metadata = { a: "b" };
      ctx.rejectAwakeable(id, new TerminalError("no", { errorCode: 410, metadata }));
    }
    return await outcome(promise);
  },
  signals: async (ctx, how) => {
    if (!ctx.signal) return LACKING;
    const own = ctx.invocation(ctx.request().id);
    if (how === "resolve") own.signal("go").resolve({ by: "itself" });
    else own.signal("go").reject(new TerminalError("no", { errorCode: 410 }));
    return await outcome(ctx.signal("go"));
  },
});

const combining = ({ RestatePromise, CombineablePromise, TerminalError, TimeoutError }) => {
  const Combined = RestatePromise ?? CombineablePromise;
  return {
    combines: async (ctx) => {
      const [quick, slow] = [ctx.sleep(10), ctx.sleep(600_000)];
      const step = () => ctx.run("step", () => "step");
      const bad = () =>
        ctx.run("bad", () => {
          throw new TerminalError("bad");
        });
      const made = [
        await outcome(Combined.all([step(), step()])),
        await outcome(Combined.race([slow, quick])),
        await outcome(Combined.any([bad(), step()])),
        await outcome(Combined.any([bad(), bad()])),
        (await Combined.allSettled([bad(), step()])).map((one) => one.status),
        await outcome(Combined.all([step(), bad()])),
        await outcome(Combined.race([Combined.all([slow, step()]), Combined.any([step(), slow])])),
      ];
      const late = await outcome(ctx.awakeable().promise.orTimeout(20));
      made.push(late, TimeoutError.name);
      if (!step().map) return [...made, LACKING];
      const failed = bad().map((_value, failure) => failure.message);
      made.push(await step().map((value) => `${value}!`), await failed);
      if (!RestatePromise?.resolve) return [...made, LACKING];
      const known = RestatePromise.resolve("known");
      made.push(await outcome(Combined.all([known, step()])));
      made.push(await outcome(RestatePromise.reject(new TerminalError("known"))));
      return made;
    },
  };
};

const PARTS = [payloads, basics, stepping, calling, sending, canceling, waiting, combining];

export const plainHandlers = (restate) => Object.assign({}, ...PARTS.map((part) => part(restate)));
