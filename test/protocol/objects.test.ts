import { expect } from "vitest";
import { attach, call, send, value } from "./_ask.ts";
import { type Check, protocolSuite } from "./_suite.ts";

/** The lock is held over suspension and back-off: each is done before the next begins. */
const inTurn = (service: string, failures: number): Check =>
async (
  { target, endpoint, named, id },
) => {
  const store = `${named(service)}/${id}`;
  const names = ["1", "2", "3"].map((one) => `${id}-${one}`);
  const ids: string[] = [];
  for (const name of names) {
    ids.push(await send(target, `${store}/nap`, { id: name, ms: 200, failures }));
  }
  for (const one of ids) expect((await attach(target, one)).status).toBe(200);
  const lines = endpoint.lines().filter((line) => line.startsWith(`${id} `));
  expect(lines).toEqual(names.flatMap((name) => [`${id} in ${name}`, `${id} out ${name}`]));
};

const besides: Check = async ({ target, endpoint, named, id }) => {
  const store = `${named("Store")}/${id}`;
  const held = send(target, `${store}/hold`, id);
  await endpoint.happens(`${id} hold`);
  expect(await value(target, `${store}/all`)).toEqual({});
  const met = call(target, `${store}/meet`, `${id}-meet`);
  await endpoint.happens(`${id}-meet meet`);
  endpoint.release(`${id}-meet`);
  expect((await met).body).toBe("met");
  endpoint.release(id);
  expect((await attach(target, await held)).body).toBe(id);
};

protocolSuite("objects", {
  "82 exclusive invocations of one key run one after the other, in order": inTurn("Store", 0),
  "82b the lock is held over suspension": inTurn("SleepyStore", 0),
  "82c the lock is held over back-off": inTurn("Store", 2),
  "83 a shared handler runs at once beside an exclusive one": besides,
});
