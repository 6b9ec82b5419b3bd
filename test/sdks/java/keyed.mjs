// State, the order of a key, and workflows with their promises.
import { answers, becomes, boxed, call, check, ended, journal, journals } from "./world.mjs";
import { query, send, signal, until, world } from "./world.mjs";

const EAGER = "GetEagerState, GetEagerStateKeys";
const LAZY = "GetLazyState, ~GetLazyState";
const LAZY_KEYS = "GetLazyStateKeys, ~GetLazyStateKeys";

const state = async () => {
  // the SDK leaves a cleared key among those it lists without asking the server
  const told = (key, left) => [
    `${key} false -`,
    "5 3",
    "[count, raw]",
    `false ${left}`,
    "false 0",
  ];
  await journals(
    "state",
    { path: `Box/${world.id}/dance` },
    told(world.id, "[count, raw]"),
    "Input, GetEagerState, GetEagerState, SetState, SetState, GetEagerState",
    `${EAGER}, Sleep, ~Sleep, ClearState, ${EAGER}, ClearAllState, ${EAGER}, SetState, Output`,
  );
  await journals(
    "lazy state",
    { path: `Box/${world.id}lazy/lazyDance` },
    told(`${world.id}lazy`, "[raw]"),
    `Input, ${LAZY}, ${LAZY}, SetState, SetState, GetEagerState, GetEagerState, ${LAZY_KEYS}`,
    `Sleep, ~Sleep, ClearState, GetEagerState, ${LAZY_KEYS}, ClearAllState, ${EAGER}`,
    "SetState, Output",
  );
  await answers("shared get", { path: `Box/${world.id}/get` }, "danced");
  await answers("shared keys", { path: `Box/${world.id}/keys` }, ["text"]);
  await check("state as the operator sees it", ['text "danced"'], async () => {
    const rows = await query(
      "SELECT key, value_utf8 FROM state WHERE service_name = 'Box' " +
        `AND service_key = '${world.id}' ORDER BY key`,
    );
    return rows.map((row) => `${row.key} ${row.value_utf8}`);
  });
};

const order = async () => {
  const row = Array.from({ length: 10 }, (_, i) => `${i + 1}`);
  await check("one after the other", row, async () => {
    const all = await Promise.all(row.map(() => call(`Box/${world.id}row/add`, "1")));
    return all.map((one) => one.value).sort((a, b) => a - b);
  });
  await check("a held key lets only shared handlers in", ["nothing", "free", "1"], async () => {
    const holder = await send(`Box/${world.id}hold/hold`, `${world.id}other`);
    const awakeable = await boxed(`${world.id}other`);
    const next = await send(`Box/${world.id}hold/add`, "1");
    const shared = (await call(`Box/${world.id}hold/get`)).value;
    await becomes(next, "pending");
    const waits = ended(next);
    await signal(awakeable, "resolve", JSON.stringify("free"));
    return [shared, (await ended(holder)).value, (await waits).value];
  });
};

/** Starts a workflow, and gives its id when it waits. */
const started = async (key) => {
  const run = await send(`Flow/${key}/run`, "in");
  await until("the stage", async () => (await call(`Flow/${key}/stage`)).value === "waiting");
  return run;
};

const workflow = async () => {
  const twice = { code: 409, message: "promise was already completed", source: "invocation" };
  const told = [`false ${world.id}`, "told", twice, "in now false now", "done now", "went", 409];
  const entries =
    "Input, SetState, PeekPromise, ~PeekPromise, GetPromise, ~GetPromise, SetState, " +
    "CompletePromise, ~CompletePromise, PeekPromise, ~PeekPromise, Output";
  await check("a workflow", [...told, entries], async () => {
    const at = async (handler, input) => (await call(`Flow/${world.id}/${handler}`, input)).value;
    const run = await started(world.id);
    const seen = [await at("peek")];
    const done = at("done");
    seen.push(await at("go", "now"), await at("go", "again"));
    seen.push((await ended(run)).value, await done, await at("stage"));
    return [...seen, (await call(`Flow/${world.id}/run`, "2")).status, await journal(run)];
  });
  const failed = (message) => ({ code: 500, message, source: "invocation" });
  const badly = [500, failed("stop it"), 500, failed("done badly")];
  await check("a workflow whose promise is rejected", badly, async () => {
    const run = await started(`${world.id}bad`);
    const done = call(`Flow/${world.id}bad/done`);
    await call(`Flow/${world.id}bad/stop`, "stop it");
    const ends = [await ended(run), await done];
    return ends.flatMap(({ status, value }) => [status, value]);
  });
};

/** Virtual objects and workflows. */
export const keyed = async () => {
  await state();
  await order();
  await workflow();
};
