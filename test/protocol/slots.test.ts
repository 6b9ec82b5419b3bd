import { expect } from "vitest";
import { attach, call, send, value } from "./_ask.ts";
import { type Check, protocolSuite } from "./_suite.ts";

const SLOTS = 3;
/** So that even at two partitions some wait. */
const CALLS = 12;

const waiting: Check = async ({ target, endpoint, named, id }) => {
  const keys = Array.from({ length: CALLS }, (_, i) => `${id}-${i}`);
  const ids: string[] = [];
  for (const key of keys) ids.push(await send(target, `${named("Flow")}/${key}/run`, key));
  for (const key of keys) await endpoint.happens(`${key} run`);
  expect(await value(target, `${named("Plain")}/echo`, id)).toBe(id);
  for (const key of keys) await call(target, `${named("Flow")}/${key}/resolve`, "now");
  for (const one of ids) {
    expect((await attach(target, one)).body).toMatchObject({ value: "now" });
  }
  for (const key of keys) expect(endpoint.count(`${key} run`)).toBe(1);
};

const calling: Check = async ({ target, named, id }) => {
  const service = named("Plain");
  const list = [{ service, method: "echo", parameter: id }];
  const all = Array.from(
    { length: CALLS },
    () => call(target, `${service}/calls`, [{ service, method: "calls", parameter: list }]),
  );
  for (const { status, body } of await Promise.all(all)) {
    expect(status).toBe(200);
    expect(body).toMatchObject([{ value: [{ value: id }] }]);
  }
};

// No attempt reaches its inactivity timeout, which is a minute.
protocolSuite("slots", {
  "69b attempts that only wait free their slots while others are queued": waiting,
  "69c callers that hold all slots free them for those that they call": calling,
}, { options: { "worker.invoker.concurrent-invocations-limit": String(SLOTS) } });
