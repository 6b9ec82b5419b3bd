import type { Event } from "../../src/engine/event.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { targetOf } from "../support/schema.ts";

let drawn = 0;

/** A call of `greeter/hi` that no other one equals. `journalMs`: how long its journal is kept. */
export function invoked(journalMs = 1e6): Event & { type: "invoked" } {
  const target = targetOf("greeter/hi");
  const { service, handler } = target;
  const entropy = new Uint8Array(16).fill(++drawn);
  const { id } = newInvocationId({ service, handler, isWorkflowRun: false }, entropy, 0);
  return {
    type: "invoked",
    id,
    fresh: true,
    target,
    headers: [],
    value: new Uint8Array(0),
    origin: { by: "ingress" },
    retention: { resultMs: 1e6, journalMs },
  };
}
