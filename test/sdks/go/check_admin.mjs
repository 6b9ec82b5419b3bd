// What an operator does to invocations that this SDK runs: cancel, kill, pause, resume, restart, purge.

const COLUMNS =
  "status, target, target_service_ty, invoked_by, completion_result, completion_failure, " +
  "journal_size, last_attempt_server, retry_count";

export async function adminChecks(tools) {
  const { check, attach, query, journal, until, status, http } = tools;
  const waiting = (id, entry) =>
    until(async () => (await journal(id)).some((line) => line.includes(entry)));
  const patch = (id, what) => http("PATCH", `/invocations/${id}/${what}`);
  const row = async (id) => {
    const [found] = await query(`SELECT ${COLUMNS} FROM sys_invocation WHERE id = '${id}'`);
    return { ...found, last_attempt_server: found?.last_attempt_server?.replace(/\/v.*/, "") };
  };
  const ended = async (name, id) => {
    await check(`${name}: result`, () => attach(id));
    await until(async () => await status(id) === "completed");
    await check(`${name}: journal`, () => journal(id));
    await check(`${name}: row`, () => row(id));
  };
  const all = { ...tools, waiting, patch, row, ended };
  await cancelChecks(all);
  await pauseChecks(all);
  await queueChecks(all);
  await restartChecks(all);
}

async function cancelChecks({ check, call, send, attach, journal, until, run, ...tools }) {
  const { waiting, patch, ended } = tools;
  const nap = await send("GoService/nap", 3_600_000);
  await waiting(nap, "Sleep");
  await check("cancel a nap", async () => (await patch(nap, "cancel")).status);
  await ended("canceled nap", nap);

  const undo = await send("GoService/compensates", `u${run}`);
  await until(async () => (await journal(undo)).includes("Notification: Call"));
  await check("cancel with compensation", async () => (await patch(undo, "cancel")).status);
  await ended("compensated", undo);
  await check("compensated state", () => call(`GoObject/u${run}/add`, 0));

  const killed = await send("GoService/combines");
  await waiting(killed, "Sleep");
  await check("kill", async () => (await patch(killed, "kill")).status);
  await check("killed: result", () => attach(killed));
}

async function pauseChecks({ check, send, attach, query, journal, until, status, ...tools }) {
  const { waiting, patch, ended } = tools;
  const paused = await send("GoService/nap", 4_000);
  await waiting(paused, "Sleep");
  // One that is suspended already stays so, and is told to be fine.
  await check("pause and resume", async () => {
    const before = await status(paused);
    const { status: pausing } = await patch(paused, "pause");
    if (before === "suspended") return pausing === 200;
    await until(async () => await status(paused) === "paused");
    return pausing === 202 && (await patch(paused, "resume")).status === 200;
  });
  await ended("resumed nap", paused);

  const broken = await send("GoService/pauses");
  await check("pauses by itself", () => until(async () => await status(broken) === "paused"));
  await check("paused: journal", () => journal(broken));
  await check("paused: events", async () => {
    const rows = await query(
      `SELECT event_type, event_json FROM sys_journal_events WHERE id = '${broken}'`,
    );
    return rows.map((event) => [event.event_type, shape(JSON.parse(event.event_json))]);
  });
  await patch(broken, "resume");
  await until(async () => await status(broken) !== "paused");
  await check("resumed: result", () => attach(broken));
}

async function queueChecks({ check, call, send, attach, until, status, run, waiting, patch }) {
  const held = await send(`GoObject/h${run}/hold`);
  await waiting(held, "SetState");
  const queued = await send(`GoObject/h${run}/add`, 1);
  await check("queued", () => until(async () => await status(queued) === "pending" || undefined));
  await check("cancel queued", async () => (await patch(queued, "cancel")).status);
  await check("canceled queued: result", () => attach(queued));
  await check("kill the holder", async () => (await patch(held, "kill")).status);
  await check("free again", () => call(`GoObject/h${run}/add`, 2));
}

async function restartChecks({ check, send, attach, journal, until, status, patch, row }) {
  const done = await send("GoService/steps");
  await attach(done);
  await until(async () => await status(done) === "completed");
  await check("completed: row", () => row(done));
  await check("restart as new", async () => {
    const again = await patch(done, "restart-as-new");
    return [again.status, await attach(again.body.new_invocation_id)];
  });
  await check("restart in the middle", async () => {
    const again = await patch(done, "restart-as-new?from=3");
    const id = again.body.new_invocation_id;
    const result = id && await attach(id);
    if (!id) return again;
    await until(async () => await status(id) === "completed");
    return [again.status, result, await journal(id)];
  });
  await check("purge", async () => (await patch(done, "purge")).status);
  await check("purged", () => until(async () => await status(done) === undefined));
}

/** An event without stack traces, which name the machine's folders. */
function shape(value) {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => key.includes("stacktrace") ? typeof inner : inner),
  );
}
