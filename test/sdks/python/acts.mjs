// Ways to use the handlers of services.py and keyed.py; each returns what it saw.

/** `target` called with `body`, its answer and its journal. */
export const told = (target, body, headers) => (world) =>
  world.told(target.replace("TAG", world.tag), body, headers);

export const deployment = (service) => async (world) => {
  const { body } = await world.admin("GET", `/services/${service}`);
  body.handlers?.sort((a, b) => a.name < b.name ? -1 : 1);
  const volatile = ["deployment_id", "revision", "http_url"];
  // Without one of its own, the server's.
  if (service !== "PyService") volatile.push("inactivity_timeout");
  return Object.fromEntries(Object.entries(body).filter(([k]) => !volatile.includes(k)));
};

/** One that waits: what it is seen as, what the admin API does to it, and how it ends. */
export const operated = (target, body, act, entries = 2) => async (world) => {
  const id = await world.send(target.replace("TAG", world.tag), body);
  await world.until("it waits", async () => {
    const rows = await world.rows(`SELECT index FROM sys_journal WHERE id = '${id}'`);
    return rows.length >= entries;
  });
  const acted = await act(world, id);
  const ended = await world.attach(id);
  return { acted, ended: world.seen(ended), journal: await world.journal(id) };
};
export const verb = (world, id, name) =>
  world.admin("PATCH", `/invocations/${id}/${name}`).then((a) => a.status);

export async function register(world) {
  const uri = world.endpoint;
  let answer = await world.admin("POST", "/deployments", { uri, force: true });
  const h1 = answer.status >= 300;
  if (h1) {
    answer = await world.admin("POST", "/deployments", { uri, force: true, use_http_11: true });
  }
  world.oneWay = h1;
  const { body } = await world.admin("GET", `/deployments/${answer.body.id}`);
  const { protocol_type, http_version, min_protocol_version, max_protocol_version, sdk_version } =
    body;
  if ((protocol_type === "BidiStream") === h1 || (http_version === "HTTP/2.0") === h1) {
    throw new Error(`${protocol_type} over ${http_version}`);
  }
  return [
    answer.status,
    min_protocol_version,
    max_protocol_version,
    sdk_version,
    body.services.map((s) => [s.name, s.ty, s.handlers.map((h) => h.name).sort()]).sort(),
  ];
}

export async function idempotent(world) {
  const headers = { "idempotency-key": `i${world.tag}` };
  const first = await world.call("PyService/stumbles", 0, headers);
  const second = await world.call("PyService/stumbles", 7, headers);
  const path = `/${world.prefix}/invocation/PyService/stumbles/i${world.tag}/output`;
  const asked = await world.ingress("GET", path);
  return { first: world.seen(first), second: world.seen(second), asked: world.seen(asked) };
}

export async function outputs(world) {
  const id = await world.send("PyWaits/naps", 1200);
  const early = (await world.output(id)).status;
  const attached = world.seen(await world.attach(id));
  return { early, attached, late: world.seen(await world.output(id)) };
}

export async function awakeable(world, settle) {
  const key = `a${Math.random().toString(36).slice(2)}`;
  const id = await world.send("PyWaits/awaits_world", key);
  const name = await world.until(
    "its awakeable",
    async () => (await world.call(`PyObject/${key}/kept`)).body || undefined,
  );
  const settled = world.seen(await settle(name));
  const ended = world.seen(await world.attach(id));
  return { settled, ended, again: world.seen(await settle(name)) };
}

export async function workflow(world) {
  const key = `w${world.tag}`;
  const submitted = await world.ingress("POST", `/${world.prefix}/send/PyFlow/${key}/run`, "in");
  await world.until(
    "it waits",
    async () => (await world.call(`PyFlow/${key}/stage`)).body[0] === "waiting",
  );
  const early =
    (await world.ingress("GET", `/${world.prefix}/workflow/PyFlow/${key}/output`)).status;
  const steps = [];
  const say = async (handler, it) =>
    steps.push(world.seen(await world.call(`PyFlow/${key}/${handler}`, it)));
  await say("peek", "first");
  await say("settle", { name: "first", value: "one" });
  await say("settle", { name: "first", value: "two" });
  await say("peek", "first");
  await say("settle", { name: "second", reject: "no", code: 410 });
  await say("awaits", "mine");
  const attached = world.seen(
    await world.ingress("GET", `/${world.prefix}/workflow/PyFlow/${key}/attach`),
  );
  await say("settle", { name: "second", value: "late" });
  await say("peek", "second");
  await say("awaits", "second");
  await say("stage");
  const again = world.seen(
    await world.ingress("POST", `/${world.prefix}/send/PyFlow/${key}/run`, "in"),
  );
  const promises = await world.rows(
    `SELECT key, completed, completion_success_value_utf8, completion_failure FROM sys_promise WHERE service_key = '${key}' ORDER BY key`,
  );
  const journal = await world.journal(submitted.body.invocationId);
  return { submitted: world.seen(submitted), early, steps, attached, again, promises, journal };
}

export async function exclusive(world) {
  const key = `x${world.tag}`;
  await Promise.all(Array.from({ length: 10 }, () => world.call(`PyObject/${key}/slow_add`, 1)));
  const failing = world.seen(await world.call(`PyObject/${key}/add_and_fail`, 42));
  const state = await world.rows(
    `SELECT key, value_utf8 FROM state WHERE service_key = '${key}' ORDER BY key`,
  );
  return {
    failing,
    state,
    shared: (await world.call(`PyObject/${key}/count`)).body,
    lazy: (await world.call(`PyObject/${key}/lazy_count`)).body,
  };
}

/** One that keeps an object's key, with one behind it. */
export async function queue(world) {
  const key = `q${world.tag}`;
  const first = await world.send(`PyObject/${key}/blocks`);
  await world.status(first, "suspended", "running");
  const second = await world.send(`PyObject/${key}/add`, 5);
  const waiting = await world.status(second, "pending", "inboxed");
  const killed = await verb(world, first, "kill");
  const ends = [world.seen(await world.attach(first)), world.seen(await world.attach(second))];
  return { waiting, killed, ends };
}

export const large = async (world) => {
  const text = "é".repeat(524288);
  const { status, body } = await world.call("PyService/echo", text);
  const state = await world.call(`PyObject/b${world.tag}/big`, 1048576);
  return [status, body === text, state.status, state.body];
};

export async function pauses(world) {
  const id = await world.send("PyService/stuck");
  const status = await world.status(id, "paused");
  const [row] = await world.rows(
    `SELECT retry_count, last_failure, last_failure_error_code FROM sys_invocation WHERE id = '${id}'`,
  );
  const resumed = await verb(world, id, "resume");
  return {
    status,
    failure: firstLine(row.last_failure),
    code: row.last_failure_error_code,
    resumed,
    ended: world.seen(await world.attach(id)),
  };
}

export async function failing(world) {
  const id = await world.send("PyService/stumbles", 1000000);
  const [row] = await world.until("it fails", async () => {
    const rows = await world.rows(
      `SELECT status, last_failure, last_failure_error_code, last_failure_related_command_index, last_failure_related_command_name, last_failure_related_command_type FROM sys_invocation WHERE id = '${id}' AND status = 'backing-off' AND retry_count > 1`,
    );
    return rows.length > 0 && rows;
  });
  const killed = await verb(world, id, "kill");
  return {
    row: { ...row, last_failure: firstLine(row.last_failure).replace(/\d+/g, "N") },
    killed,
    ended: world.seen(await world.attach(id)),
  };
}

/** Paused at once where it was suspended, and soon where it ran. */
export const pauseAndResume = async (world, id) => {
  await verb(world, id, "pause");
  if (await world.status(id, "paused", "suspended") === "paused") await verb(world, id, "resume");
  await world.status(id, "running", "suspended");
  return verb(world, id, "cancel");
};

/** In the middle of the step that takes long, which may have been over for the SDK by then. */
export const inStep = (name) => async (world) => {
  const seen = await operated("PyWaits/holds", { millis: 1500 }, async (_, id) => {
    await world.sleep(400);
    return verb(world, id, name);
  }, 3)(world);
  delete seen.journal.notifications;
  return seen;
};

export async function scoped(world) {
  const id = await world.send("PyWaits/scoped", "x");
  const query = `SELECT last_failure, last_failure_error_code FROM sys_invocation
    WHERE id = '${id}' AND last_failure IS NOT NULL`;
  const [row] = await world.until("it fails", async () => {
    const rows = await world.rows(query);
    return rows.length > 0 && rows;
  });
  await verb(world, id, "kill");
  return { ...row, last_failure: firstLine(row.last_failure) };
}

/** What a failure says, without the stack; who is paused may show none. */
function firstLine(text) {
  return text?.split("\n")[0];
}
