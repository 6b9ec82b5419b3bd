// Runs, sleeps, calls and what is chosen among them.
import { answers, journals, world } from "./world.mjs";

const CALL = "Call, ~CallInvocationId, ~Call";
const SEND = "OneWayCall, ~CallInvocationId";
const ATTACH = "AttachInvocation, ~AttachInvocation";
const OUTPUT = "GetInvocationOutput, ~GetInvocationOutput";
const RUNS = "Run left, Run right, ~Run, ~Run, Run raw, ~Run";

const runs = async () => {
  const at = (handler) => ({ path: `Kitchen/${handler}`, input: `${world.id}${handler}` });
  await journals(
    "steps",
    at("steps"),
    "a1bl73-1",
    `Input, Run named, ~Run, Run, ~Run, Run void, ~Run, ${RUNS}, Output`,
  );
  await journals("a run retried", at("flaky"), "tries 3", "Input, Run flaky, ~Run, Output");
  await journals(
    "a run out of attempts",
    at("exhausted"),
    "500 java.lang.IllegalStateException: no 2",
    "Input, Run never, ~Run, Output",
  );
  const teapot = { code: 418, message: "teapot", source: "invocation" };
  await answers("a run that fails terminally", { path: "Kitchen/doomed" }, teapot, 418);
  await journals(
    "an attempt retried",
    at("stumble"),
    "went on",
    "Input, Run before, ~Run, Run after, ~Run, Output",
  );
};

const calls = async () => {
  const went = ["called", "{x-check=h} true", "1", "1", "true", "sent"];
  await journals(
    "calls",
    { path: "Kitchen/calls", input: `${world.id}calls` },
    [...went, "ready false", "late", "late", "418 teapot", "33"],
    `Input, ${CALL}, ${CALL}, ${CALL}, ${CALL}, ${SEND}, ${ATTACH}`,
    `${SEND}, ${OUTPUT}, ${ATTACH}, ${OUTPUT}, ${CALL}, ${CALL}, Output`,
  );
  await answers("200 calls at once", { path: "Kitchen/fan", input: 200 }, 19900);
  const input = 1 << 20;
  await answers("1 MiB kept and called", { path: "Kitchen/large", input }, input);
};

/** Runs, calls, timers and combinators. */
export const steps = async () => {
  await runs();
  await calls();
  await journals(
    "sleep",
    { path: "Kitchen/nap", input: "400" },
    "slept",
    "Input, Sleep, ~Sleep, Sleep named nap, ~Sleep, Output",
  );
  await journals(
    "combinators",
    { path: "Kitchen/choose" },
    ["timer", "any 1", "timeout", "mapped 499", "mapped", "all 499"],
    `Input, Sleep soon, ~Sleep, Run quick, ~Run, Sleep, ~Sleep, Run bad, ~Run, ${CALL}, Output`,
  );
  await journals(
    "random",
    { path: "Kitchen/random" },
    true,
    "Input, Run keep, ~Run, Sleep, ~Sleep, Output",
  );
};
