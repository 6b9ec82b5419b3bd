import { expect, test } from "vitest";
import type { InvocationRow, Status } from "../../src/model/invocation.ts";
import type { Write } from "../../src/model/rows.ts";
import { controlsOf, type GivenControls } from "../support/controls.ts";
import { invocationRow } from "../support/rows.ts";
import { SlotCheck } from "./slots.ts";

const QUEUED: Status = {
  kind: "queued",
  queue: "q",
  seq: 1,
  since: 1,
  by: "concurrency",
};

/** Commits one that waits, and then one that starts though it came later. */
function overtaken(given: GivenControls): void {
  const controls = controlsOf(given);
  const check = new SlotCheck({ at: () => controls, schema: { controls } as never }, {
    isPunctual: false,
  });
  const commit = (row: InvocationRow) => {
    const writes: Write[] = [{ table: "invocation", row, drop: false }];
    check.commit({ writes, since: 0, until: 0, view: undefined, before: undefined, now: 0 });
  };
  commit(invocationRow({ id: "inv_1", status: QUEUED }));
  commit(invocationRow({ id: "inv_2", runningAt: 2 }));
}

test("whatever waits for a limit starts in its order", () => {
  const limits = { concurrency: 2 };
  for (const control of [{ limits }, { handlers: { h: limits } }]) {
    expect(() => overtaken({ services: { s: control } })).toThrow('"inv_1" waits before it');
  }
});

test("limits that limit nothing keep no order, as no limits do", () => {
  overtaken({});
  overtaken({ services: { s: { limits: {} } } });
  overtaken({ services: { s: { handlers: { h: {} } } } });
});
