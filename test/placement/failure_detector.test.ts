import fc from "fast-check";
import { expect, test } from "vitest";
import { FailureDetector } from "../../src/placement/failure_detector.ts";

const LEASE_MS = 600;
const HEARTBEAT_MS = 100;

/** Moments at which somebody beats, and looks of somebody else: each begins, looks, and ends. */
const histories = fc.record({
  beats: fc.array(fc.nat(400), { minLength: 1, maxLength: 20 }),
  looks: fc.array(
    fc.record({
      rest: fc.oneof(fc.nat(60), fc.nat(300)),
      to: fc.oneof(fc.constant(0), fc.nat(150)),
      back: fc.nat(30),
    }),
    {
      minLength: 2,
      maxLength: 30,
    },
  ),
});

test("a member is dead when its heartbeat has not changed for a lease", () => {
  fc.assert(
    fc.property(histories, ({ beats, looks }) => {
      const silences = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
      const moments: number[] = [];
      for (const gap of beats) moments.push((moments.at(-1) ?? 0) + gap);
      let now = 0;
      for (const { rest, to, back } of looks) {
        const began = now + rest, looked = began + to, ended = looked + back;
        now = ended;
        const beat = moments.filter((at) => at <= looked).length;
        const [dead] = silences.observe([{ id: "other", beat }], { began, ended });
        if (dead) expect(looked - (moments[beat - 1] ?? 0)).toBeGreaterThanOrEqual(LEASE_MS);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("missed heartbeats are counted, until the next heartbeat", () => {
  const silences = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
  const observe = (at: number, beat: number) =>
    silences.observe([{ id: "other", beat }], { began: at, ended: at + 10 }).length;
  for (let at = 0; at < 600; at += 100) expect(observe(at, 1)).toBe(0);
  expect(observe(611, 1)).toBe(1);
  expect(observe(700, 2)).toBe(0);
  expect(observe(800, 2)).toBe(0);
});

test("a time without reads of the membership counts for little", () => {
  const silences = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
  const observe = (at: number) =>
    silences.observe([{ id: "other", beat: 1 }], { began: at, ended: at + 1 }).length;
  for (const at of [0, 10_000, 20_000]) expect(observe(at)).toBe(0);
});
