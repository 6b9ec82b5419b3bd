import { afterAll, beforeAll, expect, test } from "vitest";
import { attach, awakeable, call, operate, send, value } from "../protocol/_ask.ts";
import { type SdkEndpoint, startSdk } from "../protocol/_sdk.ts";
import { registered } from "../protocol/_suite.ts";
import type { Target } from "../protocol/_target.ts";
import { until } from "../support/child.ts";
import { startWorkerd, type WorkerdServer } from "./_server.ts";

let server: WorkerdServer, target: Target;
let endpoint: SdkEndpoint;
beforeAll(async () => {
  // It says that it is bidirectional; here it is not spoken to so.
  const settings = { WORKER__INVOKER__DRAIN_TIMEOUT: "500ms" };
  [server, endpoint] = await Promise.all([
    startWorkerd({ settings }),
    startSdk({ transport: "h1bidi" }),
  ]);
  target = Object.assign(server, { word: "svc" }) as unknown as Target;
  await registered(target, endpoint);
}, 30_000);
afterAll(() => Promise.all([server?.close(), endpoint?.close()]));

test("a workflow waits for its promise across a crash", async () => {
  const run = await send(target, "Flow/a/run", "id");
  const waiter = await send(target, "Flow/a/wait");
  await endpoint.happens("id run");
  await server.crash();
  expect(await value(target, "Flow/a/peek")).toBeNull();
  expect(await value(target, "Flow/a/resolve", { a: 1 })).toEqual({ value: null });
  expect((await attach(target, run)).body).toEqual({ id: "id", value: { a: 1 } });
  expect((await attach(target, waiter)).body).toEqual({ value: { a: 1 } });
  const again = await call(target, "Flow/a/run", "id");
  expect(again.status).toBe(409);
});

test("an awakeable is resolved from outside, across a crash", async () => {
  const run = await send(target, "Plain/awakeables", { id: "wake", count: 2 });
  const ids = [
    await endpoint.announces("wake awakeable 0"),
    await endpoint.announces("wake awakeable 1"),
  ];
  expect((await awakeable(target, ids[0] ?? "", "resolve", 7)).status).toBe(202);
  await server.crash();
  expect((await awakeable(target, ids[1] ?? "", "reject", "no")).status).toBe(202);
  expect((await attach(target, run)).body).toMatchObject([{ value: 7 }, { message: "no" }]);
});

test("a sleeper is canceled", async () => {
  const run = await send(target, "Plain/nap", { id: "cancel", ms: 300_000 });
  await endpoint.happens("cancel asleep");
  expect((await operate(target, "cancel", run)).status).toBe(202);
  expect((await attach(target, run)).body).toMatchObject({ code: 409, message: "Cancelled" });
  expect(endpoint.count("cancel after")).toBe(0);
});

test("one that runs and does not end is killed", async () => {
  const run = await send(target, "Plain/nap", { id: "kill", ms: 300_000 });
  await endpoint.happens("kill asleep");
  expect((await operate(target, "kill", run)).status).toBeLessThan(300);
  expect((await attach(target, run)).status).toBe(409);
});

/** The endpoint sees that the first attempt is over, of which nothing else tells it. */
async function closes(run: string): Promise<void> {
  await until("its stream to close", () => endpoint.attempts(run)[0]?.closedAt !== undefined);
}

test("the endpoint of a step that outlasts its attempt sees the stream close", async () => {
  const run = await send(target, "StrictStore/outlast/step", "outlast");
  await endpoint.happens("outlast begins", 2);
  await closes(run);
  expect(endpoint.count("outlast ends")).toBe(0);
  // More than there should be: on a slow machine the second one may be aborted as well.
  for (let number = 1; number < 10; number++) endpoint.release(`outlast-${number}`);
  expect((await attach(target, run)).status).toBe(200);
});

test("the endpoint of a step that is killed sees the stream close", async () => {
  const run = await send(target, "Store/killed/step", "killed");
  await endpoint.happens("killed begins");
  expect((await operate(target, "kill", run)).status).toBe(200);
  await closes(run);
  expect(endpoint.count("killed ends")).toBe(0);
  endpoint.release("killed-1");
});
