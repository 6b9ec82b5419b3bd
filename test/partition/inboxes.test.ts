import { expect, test } from "vitest";
import type { Status } from "../../src/model/invocation.ts";
import { Inboxes } from "../../src/partition/inboxes.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { invocationRow } from "../support/rows.ts";

const row = (id: string, subscription: string | undefined, status: Status) =>
  invocationRow({
    id,
    status,
    ...(subscription !== undefined && { origin: { by: "subscription", id: subscription } }),
  });

test("a boot counts what is not completed, page by page", async () => {
  const store = new MemoryStore(), lease = await store.claim(0);
  const rows = Array.from({ length: 2_500 }, (_, i) => row(`i${i}`, "sub_1", { kind: "paused" }));
  rows.push(
    row("done", "sub_1", { kind: "completed" }),
    row("call", undefined, { kind: "paused" }),
  );
  rows.push(row("other", "sub_2", { kind: "scheduled", at: 7 }));
  await store.commit(lease, rows.map((row) => ({ table: "invocation", row, drop: false })));
  const inboxes = new Inboxes(2_600);
  await inboxes.recover(store, lease);
  expect(["sub_1", "sub_2", "sub_3"].map((one) => inboxes.countOf(one))).toEqual([2_500, 1, 0]);
  expect(inboxes.roomOf("sub_1")).toBe(100);
});

test("an inbox that has more than may be has no room", () => {
  const inboxes = new Inboxes(1);
  for (const id of ["i1", "i2"]) {
    inboxes.invocationChanged(null, row(id, "sub_1", { kind: "invoked" }), false);
  }
  expect(inboxes.roomOf("sub_1")).toBe(0);
});

test("an invocation counts while it is there and is not completed", () => {
  const inboxes = new Inboxes();
  const [open, done] = [
    row("i1", "sub_1", { kind: "invoked" }),
    row("i1", "sub_1", { kind: "completed" }),
  ];
  const changes = [
    [undefined, open, false, 1],
    [open, open, false, 1],
    [open, done, false, 0],
    [done, done, true, 0],
    [null, open, false, 1],
    // Dropped as it ends.
    [open, done, true, 0],
    [null, open, false, 1],
    // A workflow of this id was run again by a caller.
    [open, row("i1", undefined, { kind: "invoked" }), false, 0],
  ] as const;
  for (const [before, after, isGone, count] of changes) {
    inboxes.invocationChanged(before, after, isGone);
    expect(inboxes.countOf("sub_1")).toBe(count);
  }
});
