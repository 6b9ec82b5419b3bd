// Handlers that wait: awakeables, signals, races, cancelation, kill, pause; workflows.
const shown = ({ status, kind, body }) => ({ status, kind, body });
const attached = (call, id) => call(id, undefined, { verb: "attach", method: "GET" });

/** Looked at later: a failure until then must not end the process. */
const awaited = (promise) => {
  promise.catch(() => {});
  return promise;
};

const awakeables = (tools) => {
  const { call, key, note, journal } = tools;
  const kept = new Map();
  /** Runs `awakeable` in the background, and completes it by `complete` with its id. */
  const completed = (name, complete) => async () => {
    const waits = awaited(call("RustWaits/awakeable", key(name)));
    const id = await note(key(name));
    kept.set(name, id);
    const by = await complete(id);
    const answer = await waits;
    return [by && shown(by), shown(answer), await journal(answer.id)];
  };
  const outside = (end, body, headers = {}) => (id) =>
    call(`${id}/${end}`, body, { verb: "awakeables", headers });
  const text = (words) => new TextEncoder().encode(words);
  return {
    "awakeable resolved by a handler": completed("w1", (id) => call("RustWaits/resolve", id)),
    "awakeable rejected by a handler": completed("w2", (id) => call("RustWaits/reject", id)),
    "awakeable resolved by http": completed("w3", outside("resolve", "by http")),
    "awakeable rejected by http": completed(
      "w4",
      outside("reject", text("by http"), { "content-type": "text/plain" }),
    ),
    "awakeable resolved with nonsense": async () => {
      // The SDK fails to read it, again and again.
      const waits = awaited(call("RustWaits/awakeable", key("w5")));
      const id = await note(key("w5"));
      const by = await outside("resolve", text("no json"))(id);
      const sql = `SELECT id FROM sys_invocation WHERE target = 'RustWaits/awakeable'
        AND status = 'backing-off'`;
      const found = await tools.until("a retry", async () => (await tools.query(sql))[0]);
      const row = await tools.inStatus(found.id, "backing-off");
      const killed = await tools.manage(`invocations/${found.id}/kill`);
      return [by.status, row.last_failure, row.last_failure_error_code, killed.status]
        .concat([shown(await waits)]);
    },
    "awakeable completed twice": async () => shown(await outside("resolve", "x")(kept.get("w3"))),
    "awakeable that is none": async () => shown(await outside("resolve", "x")("sign_1nonsense")),
  };
};

const signals = ({ call, send, inStatus, journal }) => ({
  "signals": async () => {
    const { invocationId: id } = (await send("RustWaits/signals")).body;
    const sent = await call("RustWaits/signal", id);
    const answer = await attached(call, id);
    return [sent.status, shown(answer), await journal(id)];
  },
  "signals of one that waits": async () => {
    const { invocationId: id } = (await send("RustWaits/signals")).body;
    await inStatus(id, "suspended", "running");
    await call("RustWaits/signal", id);
    const again = await call("RustWaits/signal", id);
    return [again.status, shown(await attached(call, id))];
  },
});

const races = ({ call, journal }) => {
  const journaled = (name, input) => async () => {
    const answer = await call(`RustWaits/${name}`, input);
    return [shown(answer), await journal(answer.id)];
  };
  return {
    "sleep": journaled("sleep", 40),
    "race": journaled("race"),
    "order": journaled("order"),
  };
};

const helpers = (tools) => {
  const { call, send, key, note, journal } = tools;
  const started = async (handler, name, words) => {
    const { invocationId: id } = (await send(`RustWaits/${handler}`, key(name))).body;
    await note(key(name), (text) => text === words);
    // What is said next is said of a handler that waits, not of one that is about to.
    const waits = handler === "parent" ? "Command: Call" : "Command: Sleep";
    await tools.until("the wait", async () => (await journal(id)).includes(waits));
    return id;
  };
  const told = async (id, name) => {
    const answer = await attached(call, id);
    return [
      shown(answer),
      await journal(id),
      name && shown(await call(`RustObject/${name}/noted`)),
    ];
  };
  return { started, told };
};

const canceling = (tools) => {
  const { call, key, note, manage, journal } = tools;
  const { started, told } = helpers(tools);
  return {
    "canceled by the admin API, undone": async () => {
      const id = await started("saga", "c1", "booked");
      const by = await manage(`invocations/${id}/cancel`);
      return [by.status, by.body, await told(id, key("c1"))];
    },
    "canceled within a race": async () => {
      const id = await started("on_cancel", "c2", "racing");
      const by = await manage(`invocations/${id}/cancel`);
      return [by.status, await told(id)];
    },
    "canceled by a handler": async () => {
      const id = await started("saga", "c3", "booked");
      const by = await call("RustWaits/cancel", id);
      return [by.status, await told(id, key("c3"))];
    },
    "canceled with its parent": async () => {
      const id = await started("parent", "c4", "booked");
      const by = await manage(`invocations/${id}/cancel`);
      // The child is told of it, too, and takes its time.
      await note(key("c4"), (text) => text.startsWith("undone"));
      return [by.status, await told(id, key("c4"))];
    },
    "canceled by its parent": async () => {
      const answer = await call("RustWaits/cancels", key("c5"));
      return [shown(answer), await journal(answer.id)];
    },
  };
};

const killing = (tools) => {
  const { call, send, key, manage, inStatus } = tools;
  const { started, told } = helpers(tools);
  return {
    "killed while it waits": async () => {
      const id = await started("saga", "k1", "booked");
      const by = await manage(`invocations/${id}/kill`);
      return [by.status, await told(id, key("k1"))];
    },
    "killed with its child": async () => {
      const id = await started("parent", "k2", "booked");
      const by = await manage(`invocations/${id}/kill`);
      return [by.status, await told(id, key("k2"))];
    },
    "paused and resumed while it waits": async () => {
      const { invocationId: id } = (await send("RustWaits/sleep", 1500)).body;
      await inStatus(id, "suspended", "running");
      const paused = await manage(`invocations/${id}/pause`);
      await inStatus(id, "paused", "suspended");
      const resumed = await manage(`invocations/${id}/resume`);
      // 202 where it runs and must be asked, 200 where it is suspended.
      return [paused.status < 300, resumed.status < 500, shown(await attached(call, id))];
    },
    "canceled before its time": async () => {
      const path = "RustWaits/sleep?delay=60s";
      const { invocationId: id } = (await send(path, 10)).body;
      await inStatus(id, "scheduled");
      const by = await manage(`invocations/${id}/cancel`);
      return [by.status, shown(await attached(call, id))];
    },
  };
};

const operating = ({ call, key, manage, journal, inStatus }) => {
  return {
    "purged": async () => {
      const headers = { "idempotency-key": key("purged") };
      const { id } = await call("RustWaits/sleep", 5, { headers });
      await inStatus(id, "completed");
      const by = await manage(`invocations/${id}/purge`);
      const again = await call("RustWaits/sleep", 5, { headers });
      return [by.status, again.id !== id, again.status];
    },
    "restarted as new": async () => {
      const { id } = await call("RustPlain/steps");
      const by = await manage(`invocations/${id}/restart-as-new`);
      const end = await attached(call, by.body.new_invocation_id);
      return [by.status, shown(end), await journal(by.body.new_invocation_id)];
    },
  };
};

const runs = ({ call, send, key }) => ({
  run: async (name) => (await send(`RustFlow/${key(name)}/run`, name)).body.invocationId,
  at: (name, handler, input) => call(`RustFlow/${key(name)}/${handler}`, input),
});

const workflow = ({ call, send, key, journal, until, query }) => {
  const { run, at } = runs({ call, send, key });
  const ended = (name, handler) => async () => {
    const id = await run(name);
    await until("the run", async () => (await at(name, "order")).body === name);
    const peeked = await at(name, "peek");
    const waits = at(name, "done");
    const by = await at(name, handler, "word");
    const answer = await attached(call, id);
    const done = await waits;
    const later = [
      await at(name, "peek"),
      await at(name, "order"),
      await at(name, handler, "again"),
    ];
    const sql = `SELECT key, completed, completion_success_value_utf8, completion_failure
      FROM sys_promise WHERE service_key = '${key(name)}' ORDER BY key`;
    const all = [peeked, by, answer, done, ...later].map(shown);
    return [all, await journal(id), await journal(done.id), await journal(by.id), await query(sql)];
  };
  return {
    "workflow, resolved": ended("f1", "resolve"),
    "workflow, rejected": ended("f2", "reject"),
  };
};

const submitted = ({ call, send, key, journal }) => {
  const { run, at } = runs({ call, send, key });
  return {
    "workflow, run twice": async () => {
      const id = await run("f3");
      const again = await at("f3", "run", "again");
      const sent = await send(`RustFlow/${key("f3")}/run`, "again");
      await at("f3", "resolve", "end");
      return [
        shown(again),
        shown(sent),
        sent.body.invocationId === id,
        shown(await attached(call, id)),
      ];
    },
    "workflow, by key": async () => {
      const id = await run("f4");
      const path = `RustFlow/${key("f4")}`;
      const peek = await call(`${path}/output`, undefined, { verb: "workflow", method: "GET" });
      await at("f4", "resolve", "end");
      const end = await call(`${path}/attach`, undefined, { verb: "workflow", method: "GET" });
      const out = await call(`${path}/output`, undefined, { verb: "workflow", method: "GET" });
      return [end.id === id, shown(peek), shown(end), shown(out)];
    },
    "workflow, from within": async () => {
      const answer = await at("f5", "other", key("f6"));
      return [shown(answer), await journal(answer.id)];
    },
  };
};

/** The checks of waiting, by name. */
export const waiting = (tools) => ({
  ...awakeables(tools),
  ...signals(tools),
  ...races(tools),
  ...canceling(tools),
  ...killing(tools),
  ...operating(tools),
  ...workflow(tools),
  ...submitted(tools),
});
