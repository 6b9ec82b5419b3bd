// The checks by name: each returns what it saw, which check.mjs compares with expected.json.
import { waiting } from "./checks_waiting.mjs";

const shown = ({ status, kind, body }) => ({ status, kind, body });

/** What the admin API tells of a service, without what depends on the run. */
function service({ body }) {
  const { deployment_id: _, revision: __, handlers, inactivity_timeout, ...rest } = body;
  // A server may be configured to suspend handlers soon, which is worth another run.
  const timeout = inactivity_timeout === "200ms" ? "1m" : inactivity_timeout;
  const sorted = handlers.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { ...rest, inactivity_timeout: timeout, handlers: sorted };
}

/** How registering and discovery look. */
const registering = ({ register, manage, mode }) => {
  const known = {};
  const names = ["Plain", "Payloads", "Waits", "Object", "Flow", "Client"].map((n) => `Rust${n}`);
  const services = names.map((name) => [
    `service ${name}`,
    async () => {
      const { handlers, ...rest } = service(await manage(`services/${name}`, "GET"));
      // They do not depend on the transport, which what is said of the service does.
      return mode === "h2" ? { ...rest, handlers } : rest;
    },
  ]);
  return {
    registration: async () => {
      const answer = await register();
      known.id = answer.body.id;
      const services = answer.body.services.map(({ name, ty }) => `${ty} ${name}`).sort();
      return { ok: answer.status < 300, services };
    },
    deployment: async () => {
      const { status, body } = await manage(`deployments/${known.id}`, "GET");
      const { id: _, created_at: __, services, sdk_version, ...rest } = body;
      return { status, rest, services: services.length, sdk: sdk_version };
    },
    ...Object.fromEntries(services),
  };
};

const payloads = ({ call, key }) => {
  const path = (name) => `RustPayloads/${name}`;
  const text = (words) => new TextEncoder().encode(words);
  const as = (kind) => ({ headers: { "content-type": kind } });
  return {
    "no input and no output": async () => shown(await call(path("nothing"))),
    "an input that is not taken": async () => shown(await call(path("nothing"), { a: 1 })),
    "raw bytes": async () => shown(await call(path("raw"), text("abc"), as("image/png"))),
    "raw bytes without a content type": async () => shown(await call(path("raw"), text("abc"))),
    "raw bytes, none": async () => shown(await call(path("raw"))),
    "an optional input": async () => shown(await call(path("maybe"), "up")),
    "an optional input, none": async () => shown(await call(path("maybe"))),
    "json": async () => shown(await call(path("json"), { name: "n", count: 1, tags: ["é"] })),
    "json that does not fit": async () => shown(await call(path("json"), { name: 3 })),
    "json of another content type": async () =>
      shown(await call(path("json"), text("{}"), as("text/plain"))),
    "a required input that is missing": async () => shown(await call(path("json"))),
    "a serde of our own": async () => shown(await call(path("text"), text(" ü "), as("text/csv"))),
    "a serde of our own, nothing": async () => shown(await call(path("text"))),
    "a serde of our own, json": async () => shown(await call(path("text"), {})),
    "a handler by another name": async () => shown(await call(path("numberOf"), 0.75)),
    "a mebibyte through a step and a call": async () => {
      const { status, body } = await call(path("large"), 1 << 20);
      return { status, length: body.length };
    },
    "a mebibyte of state": async () => {
      const object = `RustObject/${key("large")}`;
      const kept = await call(`${object}/keep`, 1 << 20);
      const seen = await call(`${object}/all`);
      return [kept.status, shown(seen)];
    },
  };
};

const path = (name) => `RustPlain/${name}`;

const steps = ({ call, journal }) => {
  const journaled = async (name, input) => {
    const answer = await call(path(name), input);
    return [shown(answer), await journal(answer.id)];
  };
  return {
    "echo": async () => await journaled("echo", "text"),
    "steps": async () => await journaled("steps"),
    "a step fails, caught": async () => await journaled("step_fails", false),
    "a step fails, passed on": async () => await journaled("step_fails", true),
    "a step retries": async () => await journaled("step_retries"),
    "a step gives up": async () => await journaled("step_gives_up"),
    "a step times out": async () => await journaled("step_times_out"),
    "a handler retries": async () => await journaled("flaky", 2),
    "a handler panics": async () => await journaled("panics_once"),
    "random values": async () => await journaled("random"),
  };
};

const failures = ({ call, inStatus, send, manage }) => {
  return {
    "killed after attempts": async () => shown(await call(path("killed"))),
    "paused after attempts": async () => {
      const { invocationId: id } = (await send(path("paused"))).body;
      const row = await inStatus(id, "paused");
      const resumed = await manage(`invocations/${id}/resume`);
      const end = await call(id, undefined, { verb: "attach", method: "GET" });
      return [row.retry_count, row.last_failure, resumed.status, shown(end)];
    },
    "terminal failures": async () => {
      const seen = [];
      for (const code of [400, 404, 409, 418, 429, 499, 500, 503, 599]) {
        seen.push(shown(await call(path("fails"), code)));
      }
      return seen;
    },
  };
};

const calls = (tools) => {
  const { call, journal, inStatus, send, manage, key, query } = tools;
  const withJournal = async (answer) => [shown(answer), await journal(answer.id)];
  return {
    "calls": async () => await withJournal(await call(path("calls"), key("calls"))),
    "sends": async () => {
      const answer = await call(path("sends"), key("sends"));
      const sum = await tools.until("the late add", async () => {
        const { body } = await call(`RustObject/${key("sends")}/sum`);
        return body === 3 ? body : undefined;
      });
      return [sum, ...await withJournal(answer)];
    },
    "headers and idempotency key": async () => {
      const headers = { "x-mine": "1", "X-Upper": "Two", "idempotency-key": key("headers") };
      return shown(await call(path("headers"), undefined, { headers }));
    },
    "private handlers": async () => shown(await call(path("hidden"))),
    "no such handler": async () => shown(await call(path("nope"))),
    "200 calls at once": async () => shown(await call(path("fan"), 200)),
    "a scope within": async () => {
      const { invocationId: id } = (await send(path("scoped"), `${Date.now()}`)).body;
      const row = await inStatus(id, "completed", "backing-off", "paused");
      await manage(`invocations/${id}/kill`);
      return [row.status === "completed", row.pinned_service_protocol_version];
    },
    "who called": async () => {
      const { id } = await call(path("calls"), key("who"));
      const rows = await query(
        `SELECT target, status, completion_result, invoked_by, idempotency_key FROM sys_invocation WHERE invoked_by_id = '${id}'`,
      );
      return rows.map((row) => JSON.stringify(row)).sort();
    },
  };
};

const state = ({ call, journal, key, query }) => {
  const rows = (name) =>
    query(
      `SELECT key, value_utf8, value FROM state WHERE service_key = '${key(name)}' ORDER BY key`,
    );
  const tour = (handler) => async () => {
    const answer = await call(`RustObject/${key(handler)}/${handler}`);
    return [shown(answer), await journal(answer.id), await rows(handler)];
  };
  return {
    "state": tour("tour"),
    "lazy state": tour("lazy_tour"),
    "shared and exclusive": async () => {
      const object = `RustObject/${key("sum")}`;
      const before = await call(`${object}/sum`);
      const added = await Promise.all([1, 2, 3, 4, 5].map((n) => call(`${object}/add`, n)));
      const read = await call(`${object}/sum`);
      const all = await call(`${object}/all`);
      const cleared = await call(`${object}/clear`);
      const after = await call(`${object}/sum`);
      const sums = added.map(({ status }) => status);
      return [before, read, all, cleared, after].map(shown).concat(sums, await rows("sum"));
    },
    "a key of any letters": async () => {
      const name = `${key("odd")} /?#%é\u{1f600}`;
      return shown(await call(`RustObject/${encodeURIComponent(name)}/who`));
    },
  };
};

/** The ingress client of the SDK speaks to the ingress by itself. */
const client = ({ call, key, ingress }) =>
  Object.fromEntries(
    ["calls", "sends", "workflow", "scoped", "waits"].map((name) => [
      `ingress client: ${name}`,
      async () => {
        const answer = await call(`RustClient/${name}`, [ingress, key(`client-${name}`)]);
        return shown(answer);
      },
    ]),
  );

/** All checks, in the order they run. */
export const checks = (tools) => ({
  ...registering(tools),
  ...payloads(tools),
  ...steps(tools),
  ...failures(tools),
  ...calls(tools),
  ...state(tools),
  ...waiting(tools),
  ...client(tools),
});
