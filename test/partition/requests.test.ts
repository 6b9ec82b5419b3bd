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

/** A door whose partition does nothing but note what comes; its replies are made by the test. */
function stage() {
  const waiters = new Waiters();
  const events: Event[] = [];
  const partition = { send: (event: Event) => void events.push(event) };
  const requests = new Requests(waiters, () => partition as unknown as Partition);
  const tokenOf = (at: number) => (events[at] as { readonly reply: number }).reply;
  return { waiters, requests, tokenOf };
}

test("a second submission is refused, though the first one ends before that is told", async () => {
  const { waiters, requests, tokenOf } = stage();
  const first = requests.call(REQUEST);
  const second = requests.call(REQUEST);
  waiters.replied({ type: "reply", reply: tokenOf(0), id, status: "accepted" });
  waiters.completed({ type: "completed", id, result: ran });
  // What came of the second event is told only now. Let the first be seen through before.
  expect(await first).toEqual({ result: ran });
  const reply = tokenOf(1);
  waiters.replied({ type: "reply", reply, id, status: "previouslyAccepted", result: refused });
  expect(await second).toEqual({ result: refused });
  expect(waiters.size).toBe(0);
});

test("a repeat that joins the first one hears its result, in whatever order", async () => {
  const { waiters, requests, tokenOf } = stage();
  const early = requests.call(REQUEST);
  const pending = requests.call(REQUEST);
  waiters.replied({ type: "reply", reply: tokenOf(1), id, status: "previouslyAccepted" });
  waiters.completed({ type: "completed", id, result: ran });
  waiters.replied({ type: "reply", reply: tokenOf(0), id, status: "accepted" });
  expect(await Promise.all([early, pending])).toEqual([{ result: ran }, { result: ran }]);
  expect(waiters.size).toBe(0);
});
