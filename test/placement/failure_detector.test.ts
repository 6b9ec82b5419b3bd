import fc from "fast-check";
import { expect, test } from "vitest";
import { FailureDetector } from "../../src/placement/failure_detector.ts";

const LEASE_MS = 600;
const HEARTBEAT_MS = 100;

/** Times between heartbeats of a member, and reads by another one: each begins, reads, and ends. */
const histories = fc.record({
  beats: fc.array(fc.nat(400), { minLength: 1, maxLength: 20 }),
  reads: fc.array(
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
    fc.property(histories, ({ beats, reads }) => {
      const detector = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
      const moments: number[] = [];
      for (const gap of beats) moments.push((moments.at(-1) ?? 0) + gap);
      let now = 0;
      for (const { rest, to, back } of reads) {
        const began = now + rest, readAt = began + to, ended = readAt + back;
        now = ended;
        const beat = moments.filter((at) => at <= readAt).length;
        const [dead] = detector.observe([{ id: "other", beat }], { began, ended });
        if (dead) expect(readAt - (moments[beat - 1] ?? 0)).toBeGreaterThanOrEqual(LEASE_MS);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("missed heartbeats are counted, until the next heartbeat", () => {
  const detector = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
  const observe = (at: number, beat: number) =>
    detector.observe([{ id: "other", beat }], { began: at, ended: at + 10 }).length;
  for (let at = 0; at < 600; at += 100) expect(observe(at, 1)).toBe(0);
  expect(observe(611, 1)).toBe(1);
  expect(observe(700, 2)).toBe(0);
  expect(observe(800, 2)).toBe(0);
});

test("a time without reads of the membership counts for little", () => {
  const detector = new FailureDetector({ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS });
  const observe = (at: number) =>
    detector.observe([{ id: "other", beat: 1 }], { began: at, ended: at + 1 }).length;
  for (const at of [0, 10_000, 20_000]) expect(observe(at)).toBe(0);
});
