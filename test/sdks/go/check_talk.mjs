// What a caller sees: results, errors and journals of every handler, and the ingress client.

const HANDLER_CHECKS = [
  ["echo", "GoService/echo", "hi"],
  ["echo of ünicode", "GoService/echo", "ü\u0000🙂"],
  ["echo without a body", "GoService/echo", undefined],
  ["echo of another type", "GoService/echo", 5],
  ["void", "GoService/void", undefined],
  ["void with a body", "GoService/void", 1],
  ["reflected", "Inner/Says", undefined],
  ["reflected private", "Inner/Half", 8],
  ["private", "GoService/private", "x"],
  ["fail", "GoService/fail", { code: 418, message: "tea", metadata: { a: "b" } }],
  ["fail 500", "GoService/fail", { code: 500, message: "" }],
  ["fail 1000", "GoService/fail", { code: 1000, message: "odd" }],
  ["flaky", "GoService/flaky", undefined],
  ["gives up", "GoService/gives_up", undefined],
  ["random", "GoService/random", undefined],
  ["cancels", "GoService/cancels", undefined],
  ["parallel", "GoService/parallel", 200],
  ["timeouts", "GoService/timeouts", 300],
  ["state", "GoObject/k RUN/all", undefined],
  ["state lazily", "GoObject/lRUN/lazily", undefined],
  ["state of a lazy object", "GoLazy/kRUN/all", undefined],
  ["keys of a lazy object", "GoLazy/kRUN/keys", undefined],
];

export async function talkChecks(tools) {
  const { check, call, run, endpoint, ingress } = tools;
  for (const [name, path, body] of HANDLER_CHECKS) {
    await check(name, () => call(path.replace("RUN", run), body));
  }
  await check("raw", async () => {
    const type = "application/octet-stream";
    return await call("GoService/raw", new Uint8Array([65, 66, 67]), { type });
  });
  await check("raw as JSON", () => call("GoService/raw", "x"));
  const ours = "text/rot13";
  for (const type of [ours, `${ours}; charset=us-ascii`, `${ours};charset=utf-8`]) {
    await check(`own codec as ${type}`, () => call("GoService/rot", "uv", { type }));
    const strict = () => call("GoService/rotCharset", "uv", { type });
    await check(`own codec with a charset as ${type}`, strict);
  }
  if (process.env.SCOPES) await check("scoped", () => call("GoService/scoped", "s"));
  await check("proto JSON", () => call("GoService/protoJson", "yes"));
  const headers = { "x-one": "1", "idempotency-key": `k${run}` };
  await check("request", () => call("GoService/request", undefined, { headers }));
  await check("request again", () => call("GoService/request", undefined, { headers }));
  await check("large", async () => {
    const text = "y".repeat(1 << 20);
    const out = await call("GoService/large", { bytes: 1 << 20, text });
    return out.text ? [out.bytes, out.text.length] : out;
  });
  await keyedChecks(tools);
  await journalChecks(tools);
  const seen = await fetch(`${endpoint}/client?ingress=${ingress}&run=c${run}`);
  for (const { what, value } of await seen.json()) await check(`client: ${what}`, value);
}

async function keyedChecks({ check, call, run, query }) {
  const key = `o${run}`;
  const steps = [["add", 1], ["add", 2], ["set", { key: "a", value: "b" }], ["get", "a"]];
  steps.push(["get", "no"], ["keys"], ["clear", "a"], ["keys"], ["clearAll"], ["keys"]);
  steps.push(["set", { key: "z", value: "kept" }]);
  for (const [index, [handler, body]] of steps.entries()) {
    await check(`object ${index} ${handler}`, () => call(`GoObject/${key}/${handler}`, body));
  }
  await check("object state", () =>
    query(
      `SELECT service_name, service_key, key, value_utf8 FROM state WHERE service_key = '${key}'`,
    ));
  await check("200 calls to one key", async () => {
    const each = Array.from({ length: 200 }, () => call(`GoObject/many${run}/add`, 1));
    return Math.max(...await Promise.all(each));
  });
}

async function journalChecks(tools) {
  const { check, send, attach, journal, run, until, status } = tools;
  const seen = async (name, path, body, order = (all) => all) => {
    const id = await send(path, body);
    await check(name, () => attach(id));
    await until(async () => await status(id) === "completed");
    await check(`${name}: journal`, async () => order(await journal(id)));
  };
  await seen("steps", "GoService/steps", undefined);
  await seen("calls", "GoService/calls", `j${run}`, (all) => all.sort());
  await seen("combines", "GoService/combines", undefined, (all) => all.sort());
  for (const how of ["", "refused"]) {
    await seen(`awakeable ${how}`, "GoService/waits", how);
    await seen(`signal ${how}`, "GoService/signals", how);
  }
  await seen("lazy state", `GoLazy/j${run}/all`, undefined);
  await seen("eager state", `GoObject/j${run}/all`, undefined);

  await flowChecks(tools);
  await awakeableChecks(tools);
}

async function flowChecks({ check, call, send, attach, journal, run, until, prefix }) {
  const flow = `GoFlow/f${run}`;
  const id = await send(`${flow}/run`, "go");
  await check("flow status", () => until(async () => await call(`${flow}/status`) || undefined));
  await check("flow peek", () => call(`${flow}/peek`));
  const awaited = send(`${flow}/await`);
  await check("flow reject", () => call(`${flow}/reject`, "no"));
  await check("flow resolve too late", () => call(`${flow}/resolve`, "yes"));
  await check("flow peek after", () => call(`${flow}/peek`));
  await check("flow result", () => attach(id));
  await check("flow awaited", async () => attach(await awaited));
  await check("flow run again", () => call(`${flow}/run`, "go"));
  await check("flow journal", () => journal(id));
  await check(
    "flow attach",
    () => call(`${prefix}/workflow/${flow}/attach`, undefined, { method: "GET" }),
  );
}

async function awakeableChecks({ check, call, send, attach, until, prefix }) {
  for (const how of ["resolve", "reject"]) {
    const waiting = await send("GoService/waits", "outside");
    const awakeable = await until(() => call("GoObject/ids/get", "awakeable"));
    await call("GoObject/ids/clear", "awakeable");
    const body = how === "resolve" ? ["by hand"] : ["by hand", { type: "text/plain" }];
    const answer = await call(`${prefix}/awakeables/${awakeable}/${how}`, ...body);
    await check(`awakeable from outside: ${how}`, async () => [answer, await attach(waiting)]);
  }
}
