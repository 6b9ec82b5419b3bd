import { expect, test } from "vitest";
import type { AttemptSite, InvocationRow } from "../../src/model/invocation.ts";
import { step } from "../../src/engine/step.ts";
import { Turn } from "../../src/engine/turn.ts";
import { Resident } from "../../src/partition/resident.ts";
import { schema } from "../support/schema.ts";
import { parse } from "./_script.ts";

// How long an attempt waited for a slot comes with its first event, and is added to the row once.

/** Plays lines at a handler, of which each attempt has waited so long. Answers its row. */
function played(...lines: readonly (readonly [line: string, waitedMs?: number])[]): InvocationRow {
  const resident = new Resident(1e9);
  const invoke = ["invoke i1 greeter/hi"] as const;
  for (const [at, [line, waitedMs]] of [invoke, ...lines].entries()) {
    const event = parse(line.split(" "));
    const site: AttemptSite = { startedAt: 1, ...(waitedMs !== undefined && { waitedMs }) };
    const turn = new Turn((at + 1) * 1000, schema, {
      rows: {
        find: (...row) => resident.find(...row) ?? null,
        list: (...rows) => resident.list(...rows) ?? [],
      },
    });
    const isOfAttempt = event.type === "framesReceived" || event.type === "attemptEnded";
    step(turn, isOfAttempt ? { ...event, site } : event);
    resident.apply(turn, at + 1);
  }
  const row = resident.find("invocation", "i1", "");
  if (!row) throw new Error("It is not stored");
  return row;
}

test("the wait of an attempt is added with its first frames, and not with later ones", () => {
  const first = ["hear i1#1 0 run", 300] as const;
  expect(played(first).waitedMs).toEqual({ invoker: 300 });
  expect(played(first, ["hear i1#1 1 run", 300], ["end i1#1 ended", 300]).waitedMs)
    .toEqual({ invoker: 300 });
  // They come again.
  expect(played(first, first).waitedMs).toEqual({ invoker: 300 });
});

test("an attempt that ends without frames has waited, too, and each attempt adds its own", () => {
  const failed = ["end i1#1 failed", 300] as const;
  expect(played(failed).waitedMs).toEqual({ invoker: 300 });
  expect(played(failed, failed).waitedMs).toEqual({ invoker: 300 });
  const again = ["timer i1 2500/retry/0"] as const;
  expect(played(failed, again, ["end i1#2 failed", 50]).waitedMs).toEqual({ invoker: 350 });
});

test("one that did not wait leaves nothing in the row", () => {
  expect(played(["hear i1#1 0 run"]).waitedMs).toBeUndefined();
});
