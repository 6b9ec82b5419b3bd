// The checks in their order, as [name, what is seen].
import { operating } from "./checks_operating.mjs";

const text = (words) => new TextEncoder().encode(words);
const headersOf = (type) => ({ "content-type": type });

/** What the admin API tells of a service. */
function service({ status, body }) {
  const { deployment_id: _, revision: __, handlers = [], ...rest } = body;
  return { status, ...rest, handlers: handlers.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

const registering = ({ register, manage }) => {
  const read = (path) => manage(path, { method: "GET" });
  const names = ["Plain", "Options", "Object", "Lazy", "Flow", "Declared", "MismatchPause"];
  return {
    registered: async () => {
      const { status, body } = await register();
      if (status >= 300) return { status, body };
      const known = (await read(`deployments/${body.id}`)).body;
      return {
        status,
        min: known.min_protocol_version,
        max: known.max_protocol_version,
        sdk: known.sdk_version,
        mode: known.protocol_type ?? "RequestResponse",
        services: body.services.map((it) => `${it.ty} ${it.name}`).sort(),
      };
    },
    ...Object.fromEntries(
      names.map((name) => [
        `service ${name}`,
        async () => service(await read(`services/Ts${name}`)),
      ]),
    ),
  };
};

const payloads = ({ call, shown }) => {
  const plain = (handler, body, headers) => async () =>
    shown(await call(`TsPlain/${handler}`, body, headers));
  return {
    "echo": plain("echo", { a: ["é", null, 1.5] }),
    "echo of nothing": plain("echo"),
    "echo of bad JSON": plain("echo", text("{"), headersOf("application/json")),
    "echo of another type": plain("echo", text("1"), headersOf("text/plain")),
    "nothing": plain("nothing"),
    "nothing with a body": plain("nothing", 1),
    "given nothing": plain("given"),
    "given null": plain("given", null),
    "length of nothing": plain("length"),
    "raw": async () => {
      const type = headersOf("application/octet-stream");
      const { status, type: kind, bytes } = await call("TsPlain/raw", text("ab"), type);
      return { status, kind, bytes: [...bytes] };
    },
    "raw of any type": async () => [
      ...(await call("TsPlain/raw", text("ab"), headersOf("image/png")))
        .bytes,
    ],
    "raw without a type": async () => shown(await call("TsPlain/raw", text("ab"))),
    "raw of nothing": async () => [...(await call("TsPlain/raw")).bytes],
    "empty": plain("empty"),
    "empty with a body": plain("empty", 1),
  };
};

const richPayloads = ({ call, shown, key }) => {
  const plain = (handler, body, headers) => async () =>
    shown(await call(`TsPlain/${handler}`, body, headers));
  return {
    "own serde": plain("own", text("abc"), headersOf("text/csv")),
    "own serde, JSON": plain("own", "abc"),
    "own serde, strictly": plain("strict", text("abc"), headersOf("text/reversed")),
    "own serde, strictly, charset": plain(
      "strict",
      text("a"),
      headersOf("text/reversed; charset=utf-8"),
    ),
    "own serde, strictly, JSON": plain("strict", "abc"),
    "schema": plain("schema", { n: 1 }),
    "schema, refused": plain("schema", { n: "1" }),
    "a mebibyte": async () => {
      const { status, body } = await call("TsPlain/large", 1 << 20);
      return [status, body.length];
    },
    "a mebibyte of state": async () => shown(await call(`TsObject/${key("large")}/large`, 1 << 20)),
    "a key of any letters": async () =>
      shown(await call(`TsObject/${encodeURIComponent("a /?#%é\u{1f600}")}/key`)),
    "options, text": async () =>
      shown(await call("TsOptions/options", text("x"), headersOf("text/x"))),
    "options, other": async () =>
      shown(await call("TsOptions/options", text("x"), headersOf("a/b"))),
    "private": async () => shown(await call("TsOptions/hidden")),
    "no handler": async () => shown(await call("TsPlain/nosuch")),
    "no service": async () => shown(await call("TsNone/nosuch")),
  };
};

const handlers = ({ told, key }) => {
  const plain = (name, body = key(name), more) => async () =>
    await told(`TsPlain/${name}`, body, more);
  const failing = [[409, "no"], [500, ""], [599, "odd"], [1000, "odder"], [undefined, "plain"]];
  return {
    "request": plain("request", undefined, {
      "x-mine": "1",
      "X-Mine-Too": "Two",
      "idempotency-key": key("request"),
    }),
    "clock": plain("clock"),
    ...Object.fromEntries(failing.map(([code, message]) => [
      `fails with ${code}`,
      plain("fails", { code, message, ...(code === 409 && { metadata: { a: "b" } }) }),
    ])),
    "flaky": plain("flaky", { key: key("flaky"), failures: 2 }),
    "runs": plain("runs"),
    "later": plain("later"),
    "together": async () => {
      const { answer, journal } = await told("TsPlain/together");
      return { answer, journal: journal.sort() };
    },
  };
};

const pausing = ({ told, call, shown, key, send, inStatus, attach, manage }) => {
  const paused = async (target) => {
    const id = await send(target, key(target));
    const { status, retry_count, last_failure } = await inStatus(id, "paused", "completed");
    const resumed = status === "paused" &&
      (await manage(`invocations/${id}/resume`)).status;
    return [status, retry_count, last_failure, resumed, await attach(id)];
  };
  const mismatch = (name) => async () => {
    const target = `TsMismatch${name}/changes`;
    const id = await send(target, key(target));
    const { status, last_failure_error_code } = await inStatus(id, "paused", "completed");
    const resumed = status === "paused" &&
      (await manage(`invocations/${id}/resume`)).status;
    const end = await attach(id);
    if (end.status !== 200) {
      end.body.message = String(end.body.message).slice(0, 60);
    }
    return [status, last_failure_error_code, resumed, end];
  };
  return {
    "pauses": () => paused("TsPlain/pauses"),
    "fragile": () => paused("TsOptions/fragile"),
    "killed": async () => shown(await call("TsOptions/killed")),
    "as terminal error": async () => await told("TsOptions/own"),
    "hooks": async () => await told("TsOptions/hooked"),
    "mismatch, retry": mismatch("Retry"),
    "mismatch, pause": mismatch("Pause"),
    "mismatch, fail": mismatch("Fail"),
  };
};

const calls = ({ told, call, shown, key, query, send, inStatus, attach, manage }) => {
  const plain = (name, body = key(name)) => async () => await told(`TsPlain/${name}`, body);
  return {
    "calls": plain("calls"),
    "who called": async () => {
      const { id } = await call("TsPlain/calls", key("who"));
      const rows = await query(
        `SELECT target, status, completion_result, invoked_by, idempotency_key,
         pinned_service_protocol_version AS v FROM sys_invocation WHERE invoked_by_id = '${id}'`,
      );
      return rows.map((row) => JSON.stringify(Object.entries(row).sort()))
        .sort();
    },
    "200 calls": async () => shown(await call("TsPlain/fan", 200)),
    "a nap": plain("naps", 400),
    "cancels": plain("cancels", undefined),
    "scoped": async () => {
      const id = await send("TsPlain/scoped", key("scope"));
      const { status } = await inStatus(id, "completed", "backing-off", "paused");
      if (status !== "completed") await manage(`invocations/${id}/kill`);
      return [status, status === "completed" && await attach(id)];
    },
    ...Object.fromEntries(["resolve", "void", "text", "richly"].map((how) => [
      `settles, ${how}`,
      plain("settles", how),
    ])),
    "signal": plain("signals", "resolve"),
    "signal, rejected": plain("signals", "reject"),
    "combines": async () => {
      const { answer, journal } = await told("TsPlain/combines");
      return { answer, journal: journal.filter((line) => line.startsWith("Command")) };
    },
  };
};

const keyed = ({ told, call, shown, key, query, until, send }) => {
  const rows = (name) =>
    query(
      `SELECT key, value_utf8, value FROM state WHERE service_key = '${key(name)}' ORDER BY key`,
    );
  return {
    "state": async () => [await told(`TsObject/${key("st")}/tour`, 1), await rows("st")],
    "lazy state": async () => [await told(`TsLazy/${key("la")}/tour`, 2), await rows("la")],
    "shared and exclusive": async () => {
      const object = `TsObject/${key("sum")}`;
      const empty = await call(`${object}/all`);
      await Promise.all(Array.from({ length: 50 }, () => call(`${object}/add`, 1)));
      await send(`${object}/holds`, 500);
      return [empty, await call(`${object}/all`), await call(`${object}/add`, 1)].map(shown);
    },
    "lazy, all": async () => {
      await call(`TsLazy/${key("all")}/set`, { a: 1, b: [2] });
      return await told(`TsLazy/${key("all")}/all`);
    },
    "sends": async () => {
      const seen = await told("TsPlain/sends", key("sends"));
      const object = `TsObject/${key("sends")}/get`;
      await until("all adds", async () => (await call(object, "sum")).body === 15);
      return seen;
    },
    "declared": async () => [
      shown(await call("TsDeclared/mine/count", text(""))),
      (await call("TsDeclared/mine/sum")).status === 200 &&
      await told(
        `TsDeclared/${key("de")}/count`,
        text("abc"),
        headersOf("application/octet-stream"),
      ),
      shown(await call("TsDeclared/other/sum")),
    ],
  };
};

const flows = ({ call, shown, key, until, send, attach, journal, prefix, http, ingress }) => ({
  "workflow": async () => {
    const flow = `TsFlow/${key("flow")}`;
    const id = await send(`${flow}/run`, { wait: true });
    const seen = [await until("it to begin", async () => (await call(`${flow}/stage`)).body)];
    const step = async (handler, body) =>
      seen.push([handler, (await call(`${flow}/${handler}`, body)).body]);
    const promises = () => step("peek", "first");
    await promises();
    const waits = send(`${flow}/awaits`, "second");
    await step("resolve", { name: "first", value: { a: 1 } });
    await step("resolve", { name: "first", value: 2 });
    await promises();
    await step("reject", { name: "second", reason: "no" });
    await step("reject", { name: "second", reason: "no" });
    await step("resolve", { name: "third" });
    await step("peek", "third");
    seen.push(await attach(id), await attach(await waits), shown(await call(`${flow}/run`, {})));
    const path = `${prefix}/workflow/${flow}/attach`;
    seen.push(shown(await http(ingress, path, { method: "GET" })));
    return [seen, await journal(id)];
  },
});

const client = ({ call, shown, key, ingress }) =>
  Object.fromEntries(
    ["calls", "sends", "workflow", "awakeables", "generic", "scoped", "gone"]
      .map((name) => [
        `client: ${name}`,
        async () => shown(await call(`TsClient/${name}`, [ingress, key(`c-${name}`)])),
      ]),
  );

const PARTS = [
  registering,
  payloads,
  richPayloads,
  handlers,
  pausing,
  calls,
  keyed,
  flows,
  ...operating,
  client,
];

export const checks = (world) => PARTS.flatMap((part) => Object.entries(part(world)));
