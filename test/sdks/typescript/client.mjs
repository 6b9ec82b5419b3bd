// The ingress client of the SDK, used within steps: each handler takes [ingress URL, a key].

/** How a call of the client ended. */
async function outcome(call) {
  try {
    return { value: (await call()) ?? null };
  } catch (cause) {
    return { name: cause.name, status: cause.status, text: cause.responseText ?? cause.message };
  }
}

const plain = { name: "TsPlain" };
const object = { name: "TsObject" };
const flow = { name: "TsFlow" };
const LACKING = "not offered";

async function calls(ingress, key, { opts }) {
  const client = ingress.serviceClient(plain);
  const once = opts({ idempotencyKey: `i${key}`, headers: { "x-mine": "1" } });
  return [
    await outcome(() => client.echo({ a: "é" })),
    await outcome(() => client.request(null, once)),
    await outcome(() => client.nothing()),
    await outcome(() => client.fails({ message: "no", code: 409, metadata: { a: "b" } })),
    await outcome(() => client.nosuch()),
    await outcome(() => ingress.serviceClient({ name: "TsNone" }).echo(1)),
    await outcome(() => ingress.objectClient(object, `${key} /é`).add(2)),
    await outcome(() => ingress.objectClient(object, `${key} /é`).key()),
  ];
}

async function sends(ingress, key, { sendOpts }) {
  const client = ingress.objectSendClient(object, key);
  const once = sendOpts({ idempotencyKey: `i${key}` });
  const sent = [await client.add(1, once), await client.add(1, once)];
  const later = await client.add(2, sendOpts({ delay: 50 }));
  const [a, b] = sent.map((one) => one.invocationId);
  const shown = [...sent, later].map(({ status, attachable }) => ({ status, attachable }));
  const results = [await outcome(() => ingress.result(sent[0]))];
  results.push(await outcome(() => ingress.result(later)));
  return [a === b, shown, results];
}

async function workflow(ingress, key) {
  const client = ingress.workflowClient(flow, key);
  const first = await client.workflowSubmit({ wait: true });
  const second = await client.workflowSubmit({ wait: true });
  const early = await outcome(async () => (await client.workflowOutput()).ready);
  const settled = [
    await outcome(() => client.resolve({ name: "first", value: 1 })),
    await outcome(() => client.reject({ name: "second", reason: "no" })),
    await outcome(() => client.resolve({ name: "second", value: 2 })),
  ];
  const attached = await outcome(() => client.workflowAttach());
  const late = await outcome(() => client.workflowOutput());
  const same = first.invocationId === second.invocationId;
  const result = await outcome(() => ingress.result(first));
  return [same, first.status, second.status, early, settled, attached, late, result];
}

async function awakeables(ingress, key, { sendOpts }) {
  const seen = [];
  for (const how of ["resolve", "void", "reject"]) {
    const own = `${key}${how}`;
    const once = sendOpts({ idempotencyKey: own });
    const sent = await ingress.serviceSendClient(plain).awaits(own, once);
    const client = ingress.objectClient(object, own);
    let id;
    while (!(id = await client.get("id"))) {
      await new Promise((go) => setTimeout(go, 30));
    }
    if (how === "reject") await ingress.rejectAwakeable(id, "no");
    else {await ingress.resolveAwakeable(
        id,
        ...(how === "void" ? [] : [{ a: "é" }]),
      );}
    const again = how === "resolve" && sent.attachable;
    seen.push(again, await outcome(() => ingress.result(sent)));
  }
  return seen;
}

async function generic(ingress, key, { opts }) {
  if (!ingress.call) return LACKING;
  const call = (handler, parameter, more) =>
    ingress.call({ service: "TsObject", handler, parameter, key, ...more });
  const sent = await outcome(() =>
    ingress.send({ service: "TsObject", handler: "add", parameter: 4, key })
  );
  if (sent.value) delete sent.value.invocationId;
  return [
    await outcome(() => call("add", 3)),
    await outcome(() => call("key", null, { opts: opts({ headers: { "x-mine": "1" } }) })),
    sent,
  ];
}

async function scoped(ingress, key, { opts }) {
  if (!ingress.scope) return LACKING;
  const client = ingress.scope(key).serviceClient(plain);
  return await outcome(() => client.request(null, opts({ limitKey: "a/b" })));
}

async function gone(ingress, _key, { opts }) {
  const late = opts({ timeout: 50 });
  const { name } = await outcome(() => ingress.serviceClient(plain).naps(5000, late));
  return name;
}

/** The handlers for one version of the package. */
export function clientHandlers({ connect, rpc, Opts, SendOpts }) {
  const making = {
    opts: (it) => (Opts ?? rpc.Opts)?.from(it) ?? rpc.opts(it),
    sendOpts: (it) => (SendOpts ?? rpc.SendOpts)?.from(it) ?? rpc.sendOpts(it),
  };
  const step = (act) => async (ctx, [url, key]) => {
    const ingress = connect({ url, headers: { "x-mine-all": "0" } });
    return await ctx.run("client", () => act(ingress, key, making));
  };
  const acts = { calls, sends, workflow, awakeables, generic, scoped, gone };
  return Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, step(act)]));
}
