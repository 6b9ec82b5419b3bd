import { expect, test } from "vitest";
import { changedControl, changedHandler } from "../../src/admin/service_control.ts";
import type { ServiceControl } from "../../src/model/limits.ts";

const RATE = { count: 2, periodMs: 1_000 };

test("a limit that is new or lower has later times, and one that is raised keeps its own", () => {
  const set = changedControl({}, { concurrency: 5 }, 100);
  expect(set?.limits).toEqual({ concurrency: 5, limitedAt: 100, tightenedAt: 100 });
  const raised = changedControl(set, { concurrency: 9 }, 200);
  expect(raised?.limits).toEqual({ concurrency: 9, limitedAt: 100, tightenedAt: 100 });
  const lowered = changedControl(raised, { concurrency: 2 }, 300);
  expect(lowered?.limits).toEqual({ concurrency: 2, limitedAt: 100, tightenedAt: 300 });
  const rated = changedControl(lowered, { rate: RATE }, 400);
  expect(rated?.limits).toMatchObject({ rate: RATE, limitedAt: 100, tightenedAt: 400 });
  const same = changedControl(rated, { rate: { ...RATE }, concurrency: 2 }, 500);
  expect(same).toEqual(rated);
});

test("a limit that was removed and is set again is a new one", () => {
  const set = changedControl({}, { concurrency: 5, rate: RATE }, 100);
  const unlimited = changedControl(set, { concurrency: null }, 200);
  expect(unlimited?.limits).toEqual({ rate: RATE, limitedAt: 100, tightenedAt: 100 });
  const again = changedControl(unlimited, { concurrency: 7 }, 300);
  expect(again?.limits).toMatchObject({ concurrency: 7, limitedAt: 300, tightenedAt: 300 });
});

test("times of a service go on where they were, whatever the clock says and was removed", () => {
  let control: ServiceControl | undefined = changedControl({}, { concurrency: 5 }, 1_000);
  control = changedControl(control, { concurrency: null }, 1_001);
  expect(control).toEqual({ tightenedAt: 1_000 });
  control = changedControl(control, { concurrency: 5 }, 10);
  expect(control?.limits).toMatchObject({ limitedAt: 1_001, tightenedAt: 1_001 });
  control = changedHandler(control, "hi", { concurrency: 1 }, 10);
  expect(control?.handlers?.["hi"]).toMatchObject({ limitedAt: 1_002, tightenedAt: 1_002 });
  expect(control?.tightenedAt).toBe(1_002);
  control = changedHandler(control, "hi", { concurrency: null }, 10);
  expect(control).toMatchObject({ limits: { concurrency: 5 }, tightenedAt: 1_002 });
  expect(control).not.toHaveProperty("handlers");
});

test("a service that was never limited has no times", () => {
  expect(changedControl({}, {}, 100)).toBeUndefined();
  expect(changedControl({}, { paused: true }, 100)).toEqual({ paused: true });
  expect(changedControl({ paused: true }, { paused: false }, 100)).toBeUndefined();
});
