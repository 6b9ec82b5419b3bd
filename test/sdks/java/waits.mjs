// Awakeables, cancelation, and the operator while handlers wait.
import { becomes, boxed, call, check, ended, isKotlin, journal, journals } from "./world.mjs";
import { note, operate, query, send, signal, until, world } from "./world.mjs";

const failed = (message) => ({ code: 500, message, source: "invocation" });
const WOKEN = "Input, Call, ~CallInvocationId, ~Call, ~Signal, Output";

const awakeables = async () => {
  const woken = JSON.stringify("woken");
  for (
    const [what, body, expected] of [
      ["resolve", woken, [200, "got woken", WOKEN]],
      ["reject", "not woken", [
        500,
        failed("not woken"),
        WOKEN.replace(
          "Output",
          "Run compensate, ~Run, Call, ~CallInvocationId, ~Call, Output",
        ),
      ]],
    ]
  ) {
    await check(`an awakeable, ${what}`, expected, async () => {
      const key = `${world.id}${what}`;
      const id = await send("Kitchen/await", key, { "idempotency-key": key });
      await signal(await boxed(key), what, body);
      const { status, value } = await ended(id);
      return [status, value, await journal(id)];
    });
  }
  // The SDK of Kotlin (2.4.0) sends nothing when a handler rejects: its journal is its input and output.
  const rejected = isKotlin ? [] : [["reject", failed("no by handler")]];
  const by = [["resolve", "got by handler"], ...rejected];
  for (const [what, expected] of by) {
    await check(`an awakeable, ${what} by a handler`, expected, async () => {
      const key = `${world.id}h${what}`;
      const waits = ended(await send("Kitchen/await", key));
      await call(`Kitchen/${what}`, await boxed(key));
      return (await waits).value;
    });
  }
};

const cancels = async () => {
  await journals(
    "cancel in handlers",
    { path: "Kitchen/cancels", input: `${world.id}cc` },
    ["409 Error 409", "409 Error 409", "compensated 409 Error 409"],
    "Input, Call, ~CallInvocationId, Sleep, ~Sleep, SendSignal, ~Call, OneWayCall",
    "~CallInvocationId, Sleep, ~Sleep, SendSignal, AttachInvocation, ~AttachInvocation",
    "Call, ~CallInvocationId, ~Call, Output",
  );
  for (const [what, left] of [["cancel", "compensated 409 Error 409"], ["kill", "sign"]]) {
    await check(`${what} by the operator`, [409, left], async () => {
      const key = `${world.id}${what}`;
      const id = await send("Kitchen/await", key, { "idempotency-key": key });
      await boxed(key);
      await operate(id, what);
      const { status, value } = await ended(id);
      note(`${what}, in words`, [value, await journal(id)]);
      return [status, (await call(`Box/${key}/get`)).value.replace(/_1.*/, "")];
    });
  }
};

const pauses = async () => {
  await check("pause and resume by the operator", [200, "got late"], async () => {
    const id = await send("Kitchen/await", `${world.id}pause`);
    const awakeable = await boxed(`${world.id}pause`);
    await operate(id, "pause");
    // an attempt that was suspended before cannot be paused any more
    await becomes(id, "paused", "suspended");
    const waits = ended(id);
    await signal(awakeable, "resolve", JSON.stringify("late"));
    await operate(id, "resume");
    const { status, value } = await waits;
    return [status, value];
  });
  await check("a handler that always fails is paused", "paused", async () => {
    const id = await send("Kitchen/always");
    const is = await becomes(id, "paused");
    await operate(id, "kill");
    return is;
  });
};

const absent = () =>
  check("a call to nowhere, paused and resumed", ["RT0018", true, "backing-off", 409], async () => {
    const id = await send("Kitchen/absent");
    const failure = await until("a failure", async () => {
      const [row] = await query(
        `SELECT last_failure, last_failure_error_code FROM sys_invocation WHERE id = '${id}'`,
      );
      return (row?.last_failure ?? undefined) && row;
    });
    note("a call to nowhere, in words", failure.last_failure);
    await operate(id, "pause");
    await becomes(id, "paused");
    const waits = ended(id);
    await operate(id, "resume");
    const is = await becomes(id, "backing-off");
    await operate(id, "kill");
    const named = failure.last_failure.includes("Nowhere");
    return [failure.last_failure_error_code, named, is, (await waits).status];
  });

/** All that waits for something from outside. */
export const waits = async () => {
  await awakeables();
  await cancels();
  await pauses();
  await absent();
};
