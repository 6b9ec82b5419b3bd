import { expect } from "vitest";
import { until } from "../support/child.ts";
import { attach } from "./_ask.ts";
import { FLOW_CONTROL, sendHolds, sendIn, setRules, started } from "./_scoped.ts";
import { type Check, protocolSuite } from "./_suite.ts";

/** How many wait in the long queue. */
const MANY = 2_000;

const starved: Check = async (world) => {
  const { target, endpoint, named, transport, id } = world, scope = `s${transport}${id}`;
  await setRules(target, { [scope]: 1 });
  const first = await sendHolds(world, scope, 1);
  await until("the first to start", () => started(world, first.names).length === 1);
  const path = `${named("Plain")}/headers`;
  for (let sent = 0; sent < MANY; sent += 100) {
    const one = () => sendIn(target, `${scope}/many`, path, { id: `${id}-many` });
    await Promise.all(Array.from({ length: 100 }, one));
  }
  const few = ["a", "b", "c"].map((name) => `${id}-few-${name}`), ids: string[] = [];
  for (const one of few) ids.push(await sendIn(target, `${scope}/few`, path, { id: one }));
  endpoint.release(first.names[0]!);
  for (const one of ids) expect((await attach(target, one)).status).toBe(200);
  const lines = endpoint.lines();
  const last = Math.max(...few.map((name) => lines.indexOf(`${name} attempt`)));
  const before = lines.slice(0, last).filter((line) => line === `${id}-many attempt`).length;
  // The two queues take turns: one of the long queue between any two of the other.
  expect(before).toBeLessThanOrEqual(4);
  await setRules(target, { [scope]: null });
  await until("all to run", () => endpoint.count(`${id}-many attempt`) === MANY, 60_000);
};

protocolSuite("a backlog", {
  "116 a queue of thousands does not hold up one of three in the same scope": starved,
}, { options: FLOW_CONTROL, transports: ["h2"], testMs: 120_000 });
