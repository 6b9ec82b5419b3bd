import { expect, test } from "vitest";
import { EVENTS_MAX } from "../../src/engine/failure_history.ts";
import { transcript } from "./transcript.ts";

/** How often something is done to an event. */
const count = (text: string, what: "put" | "drop") => text.split(`\n  ${what} event`).length - 1;

/** An invocation that is paused and resumed this often. */
function pauses(times: number): string {
  const lines = ["at 0 invoke i1 greeter/hi"];
  for (let attempt = 1; attempt <= times; attempt++) {
    lines.push(`at ${attempt} end i1#${attempt} failed!pause`, `at ${attempt} operate i1 resume`);
  }
  return lines.join("\n");
}

test("an invocation keeps its last events", () => {
  const full = transcript(pauses(EVENTS_MAX));
  expect([count(full, "put"), count(full, "drop")]).toEqual([EVENTS_MAX, 0]);
  const more = transcript(pauses(EVENTS_MAX + 5));
  expect([count(more, "put"), count(more, "drop")]).toEqual([EVENTS_MAX + 5, 5]);
  expect(more).toContain("drop event id=i1 seq=4 ");
});

test("events go with the journal, as many as there are", () => {
  for (const [times, left] of [[3, 3], [EVENTS_MAX + 5, EVENTS_MAX]] as const) {
    const before = transcript(pauses(times));
    const after = transcript(`${pauses(times)}
      at 900 operate i1 kill
      at 900 operate i1 purge`);
    expect(count(after, "drop") - count(before, "drop")).toBe(left);
    expect(after).toContain(`drop event id=i1 seq=${times - 1} `);
  }
});
