import { expect, test } from "vitest";
import { AddressPaces } from "../../src/auth/address_paces.ts";

const ADDRESSES_MAX = 10_000;

function setup(perAddress: number, total: number) {
  const world = { now: 1_000_000 };
  const paces = new AddressPaces({ perAddress, total }, () => world.now);
  const spend = (address: string, times: number) => {
    for (let i = 0; i < times; i++) paces.spend(address);
  };
  return { world, paces, spend };
}

test("ten seconds' worth may come at once from an address, and then as many as its pace", () => {
  const { world, paces, spend } = setup(2, 1_000);
  spend("a", 19);
  expect(paces.closed("a")).toBeUndefined();
  spend("a", 1);
  expect(paces.closed("a")).toBe("this address");
  expect(paces.closed("b")).toBeUndefined();
  world.now += 499;
  expect(paces.closed("a")).toBe("this address");
  world.now += 1;
  expect(paces.closed("a")).toBeUndefined();
  world.now += 3_600_000;
  expect(paces.closed("a")).toBeUndefined();
  spend("a", 20);
  expect(paces.closed("a")).toBe("this address");
});

test("those of all addresses count together, without the ones that showed a valid token", () => {
  const { world, paces, spend } = setup(10, 1);
  paces.trust("known");
  spend("known", 50);
  expect(paces.closed("new")).toBeUndefined();
  for (let i = 0; i < 10; i++) spend(`a${i}`, 1);
  expect(paces.closed("new")).toBe("all addresses");
  expect(paces.closed("known")).toBeUndefined();
  spend("known", 50);
  expect(paces.closed("known")).toBe("this address");
  world.now += 1_000;
  expect(paces.closed("new")).toBeUndefined();
});

test("the address that was used least recently is forgotten", () => {
  const { paces, spend } = setup(1, 1_000_000);
  spend("first", 10);
  spend("second", 10);
  for (let i = 0; i < ADDRESSES_MAX - 2; i++) spend(`a${i}`, 1);
  expect(paces.closed("first")).toBe("this address");
  spend("first", 1);
  spend("one more", 1);
  expect([paces.closed("first"), paces.closed("second")]).toEqual(["this address", undefined]);
});

test("valid tokens of many addresses push out the one that is oldest, and wrong ones none", () => {
  const { paces, spend } = setup(1_000_000, 1);
  paces.trust("first");
  paces.trust("second");
  for (let i = 0; i < 2 * ADDRESSES_MAX; i++) spend(`a${i}`, 1);
  expect([paces.closed("first"), paces.closed("second")]).toEqual([undefined, undefined]);
  paces.trust("first");
  for (let i = 0; i < ADDRESSES_MAX - 1; i++) paces.trust(`v${i}`);
  expect([paces.closed("first"), paces.closed("second")]).toEqual([undefined, "all addresses"]);
});
