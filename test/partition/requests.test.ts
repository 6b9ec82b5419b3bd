import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import type { Result } from "../../src/model/journal.ts";
import type { Partition } from "../../src/partition/partition.ts";
import { Requests } from "../../src/partition/requests.ts";
import { Waiters } from "../../src/partition/waiters.ts";
import type { InvocationRequest } from "../../src/ports.ts";

const id = `inv_1${"0".repeat(33)}`;
const REQUEST: InvocationRequest = {
  id,
  fresh: false,
  target: { service: "Flow", key: "a", handler: "run", type: "workflow", access: "run" },
  headers: [],
  value: new Uint8Array(0),
  origin: { by: "ingress" },
  retention: { resultMs: 1000, journalMs: 1000 },
};
const ran: Result = { kind: "value", value: Uint8Array.of(1) };
const refused: Result = {
  kind: "failure",
  failure: { code: 409, message: "Previously accepted" },
};

/** Requests to a partition that only records events; the test makes the replies. */
function stage() {
  const waiters = new Waiters();
  const events: Event[] = [];
  const partition = { send: (event: Event) => void events.push(event) };
  const requests = new Requests(waiters, () => partition as unknown as Partition);
  const tokenOf = (at: number) => (events[at] as { readonly reply: number }).reply;
  return { waiters, requests, tokenOf, events };
}

test("a second submission is refused, though the first one completes before the reply", async () => {
  const { waiters, requests, tokenOf } = stage();
  const first = requests.call(REQUEST);
  const second = requests.call(REQUEST);
  waiters.replied({ type: "reply", reply: tokenOf(0), id, status: "accepted" });
  waiters.completed({ type: "completed", id, result: ran });
  // The reply to the second event comes only now, after the first one is handled.
  expect(await first).toEqual({ result: ran });
  const reply = tokenOf(1);
  waiters.replied({ type: "reply", reply, id, status: "previouslyAccepted", result: refused });
  expect(await second).toEqual({ result: refused });
  expect(waiters.size).toBe(0);
});

test("a repeat that attaches to the first one gets its result, in either order", async () => {
  const { waiters, requests, tokenOf } = stage();
  const early = requests.call(REQUEST);
  const pending = requests.call(REQUEST);
  waiters.replied({ type: "reply", reply: tokenOf(1), id, status: "previouslyAccepted" });
  waiters.completed({ type: "completed", id, result: ran });
  waiters.replied({ type: "reply", reply: tokenOf(0), id, status: "accepted" });
  expect(await Promise.all([early, pending])).toEqual([{ result: ran }, { result: ran }]);
  expect(waiters.size).toBe(0);
});

test("records do not keep the batch in memory in which they came", async () => {
  const { waiters, requests, tokenOf, events } = stage();
  const batch = new Uint8Array(100).fill(7);
  const records = [[0, 10], [10, 90]].map(([from, to], offset) => (
    { offset, request: { ...REQUEST, value: batch.subarray(from, to) } }
  ));
  const source = { subscription: "sub_1", group: "g", topic: "t", partition: 0 };
  const taken = requests.ingest({ source, settled: 0, next: 2, records });
  const [event] = events;
  if (event?.type !== "ingested") throw new Error("no such event");
  // Nine tenths of it are no small part.
  const values = event.records.map(({ request }) => request.value);
  expect(values.map(({ buffer }) => buffer.byteLength)).toEqual([10, 100]);
  expect(values).toEqual(records.map(({ request }) => request.value));
  const reply = { type: "reply", reply: tokenOf(0), id: "", status: "done" } as const;
  waiters.replied({ ...reply, next: 1, isFull: true });
  expect(await taken).toEqual({ next: 1, isFull: true });
});
