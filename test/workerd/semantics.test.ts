import { afterAll, beforeAll, expect, test } from "vitest";
import { attach, awakeable, call, operate, send, value } from "../protocol/_ask.ts";
import { type SdkEndpoint, startSdk } from "../protocol/_sdk.ts";
import { registered } from "../protocol/_suite.ts";
import type { Target } from "../protocol/_target.ts";
import { startWorkerd, type WorkerdServer } from "./_server.ts";

let server: WorkerdServer, target: Target;
let endpoint: SdkEndpoint;
beforeAll(async () => {
  // It says that it is bidirectional; here it is not spoken to so.
  [server, endpoint] = await Promise.all([startWorkerd(), startSdk({ transport: "h1bidi" })]);
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
