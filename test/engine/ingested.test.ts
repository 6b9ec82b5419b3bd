import { expect, test } from "vitest";
import { step } from "../../src/engine/step.ts";
import { Turn } from "../../src/engine/turn.ts";
import { type Rows, sourceOf } from "../../src/model/rows.ts";
import { Resident } from "../../src/partition/resident.ts";
import { invocationRow } from "../support/rows.ts";
import { schema } from "../support/schema.ts";
import { requestOf, SOURCE } from "./_topic.ts";

/** A turn with the record of offset 5, over an invocation that has its id. */
function turnOver(row: Rows["source"], more: { readonly after?: number } = {}): Turn {
  const record = requestOf(5, undefined), { id } = record.request;
  const resident = new Resident(1e9);
  const known = invocationRow({ id, status: { kind: "paused" } });
  resident.expect(0);
  resident.add([
    { want: { table: "source", group: sourceOf(row), item: "" }, rows: [row] },
    { want: { table: "invocation", group: id, item: "" }, rows: [known] },
  ]);
  const turn = new Turn(1, schema, { rows: resident });
  const part = { source: SOURCE, settled: 5, next: 6, records: [record], ...more };
  step(turn, { type: "ingested", ...part, reply: 1 });
  return turn;
}

test("after a reshard an invocation that exists is not begun anew, whatever the offsets say", () => {
  // By these, no old partition has taken it.
  const earlier = [[3, 3]];
  const turn = turnOver({ home: 0, source: SOURCE, next: 2, settled: 2, earlier });
  expect(turn.writes.map(({ table }) => table)).toEqual(["source"]);
  expect(turn.effects).toMatchObject([{ type: "reply", next: 6 }]);
});

test("a record that an earlier partition has taken is dropped, and the row goes on", () => {
  const turn = turnOver({ home: 0, source: SOURCE, next: 2, settled: 2, earlier: [[9, 9]] });
  expect(turn.writes).toMatchObject([{ table: "source", row: { next: 6, earlier: [[9, 9]] } }]);
  const last = turnOver({ home: 0, source: SOURCE, next: 2, settled: 2, earlier: [[6, 6]] });
  expect(last.writes).toMatchObject([{ table: "source", row: { next: 6 } }]);
  expect(last.writes[0]?.row).not.toHaveProperty("earlier");
});

test("a part is not taken while the one before it is missing, and taken once that is there", () => {
  const row = { home: 0, source: SOURCE, next: 2, settled: 2 };
  const refused = turnOver(row, { after: 3 });
  expect([refused.writes, refused.effects]).toMatchObject([[], [{ type: "reply", next: 2 }]]);
  const taken = turnOver({ ...row, next: 3 }, { after: 3 });
  expect(taken.writes).toContainEqual(expect.objectContaining({ table: "source" }));
  expect(taken.effects).toContainEqual(expect.objectContaining({ type: "reply", next: 6 }));
  // Of a sidecar that has sent nothing before.
  expect(turnOver(row).effects).toContainEqual(expect.objectContaining({ next: 6 }));
});
