import { expect, test } from "vitest";
import { addressOf, isInFleet } from "../../src/placement/settings.ts";
import { readConfig } from "../../src/config.ts";

const FLEET = {
  SVC_FLEET__SECRET: "at-least-16-characters",
  SVC_STORAGE__DATABASE_URL: "http://db:8080",
};
const of = (env: Record<string, string>) => isInFleet(readConfig({ env }));

test("a process with a secret and a database server is in a fleet", () => {
  expect([of({}), of(FLEET)]).toEqual([false, true]);
});

const REFUSED: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  ["files", { SVC_STORAGE__DATABASE_URL: "" }, /needs "storage.database-url"/],
  [
    "every address there is, and none that the others can dial",
    { SVC_FLEET__BIND_ADDRESS: "0.0.0.0" },
    /"fleet.advertised-address" is needed/,
  ],
  [
    "a lease that one late heartbeat would cost",
    { SVC_FLEET__HEARTBEAT_INTERVAL: "1s", SVC_FLEET__LEASE_DURATION: "2999ms" },
    /must be at least 3 times/,
  ],
];

test.each(REFUSED)("a fleet is refused with %s", (_, env, told) => {
  expect(() => of({ ...FLEET, ...env })).toThrow(told);
});

test("a lease of three heartbeats will do", () => {
  const env = { SVC_FLEET__HEARTBEAT_INTERVAL: "1s", SVC_FLEET__LEASE_DURATION: "3s" };
  expect(of({ ...FLEET, ...env })).toBe(true);
});

test("other members get the advertised address, else the one where it listens", () => {
  const url = "http://127.0.0.1:5122";
  expect(addressOf(readConfig({ env: FLEET }), url)).toBe(url);
  const env = { ...FLEET, SVC_FLEET__ADVERTISED_ADDRESS: "http://here:1/" };
  expect(addressOf(readConfig({ env }), url)).toBe("http://here:1");
});
