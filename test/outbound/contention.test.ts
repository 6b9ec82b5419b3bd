import { expect, test } from "vitest";
import { Contention } from "../../src/outbound/contention.ts";

const QUIET_MS = 1_000;

test("an attempt is alone once no other has run for a second", () => {
  let now = 0;
  const contention = new Contention({ now: () => now });
  contention.began();
  expect(contention.isAlone()).toBe(true);
  contention.began();
  expect(contention.isAlone()).toBe(false);
  now += QUIET_MS;
  expect(contention.isAlone()).toBe(false);
  contention.ended();
  expect(contention.isAlone()).toBe(false);
  now += QUIET_MS - 1;
  expect(contention.isAlone()).toBe(false);
  now++;
  expect(contention.isAlone()).toBe(true);
});

test("attempts that come and go beside it, or one after the other, are others", () => {
  let now = 0;
  const contention = new Contention({ now: () => now });
  contention.began();
  for (let calls = 0; calls < 5; calls++) {
    now += QUIET_MS - 1;
    contention.began();
    contention.ended();
    expect(contention.isAlone()).toBe(false);
  }
  now += QUIET_MS;
  expect(contention.isAlone()).toBe(true);
  contention.ended();
  contention.began();
  expect(contention.isAlone()).toBe(true);
});
