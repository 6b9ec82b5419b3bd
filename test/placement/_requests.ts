import type { RecordPart } from "../../src/engine/event.ts";
import { newInvocationId } from "../../src/model/id.ts";
import type { InvocationRequest, OutboxBatch } from "../../src/ports.ts";

export const bytes = (...all: number[]) => Uint8Array.of(...all);
export const { id } = newInvocationId(
  { service: "S", handler: "h", isWorkflowRun: false },
  new Uint8Array(16).fill(7),
  0,
);

export const OBJECT = { service: "S", key: "k\ud800", scope: "blue" };
export const request: InvocationRequest = {
  id,
  fresh: true,
  target: { ...OBJECT, handler: "h", type: "virtual_object", access: "exclusive" },
  limitKey: "a/b",
  priority: 9,
  headers: [["a", "b"], ["a", "c"]],
  value: bytes(1, 2, 3),
  origin: { by: "ingress" },
  retention: { resultMs: 1, journalMs: 2 },
};
export const batch: OutboxBatch = {
  from: 3,
  first: 17,
  messages: [
    { type: "invoked", ...request },
    { type: "killed", id },
    {
      type: "answered",
      caller: { id, completion: 4, type: 5 },
      result: { kind: "failure", failure: { code: 409, message: "no", metadata: [["x", "y"]] } },
    },
    {
      type: "signaled",
      signal: {
        target: id,
        id: { kind: "named", name: "n" },
        result: { kind: "value", value: bytes() },
      },
    },
    {
      type: "answered",
      caller: { id, completion: 4, type: 5 },
      result: { kind: "value", value: bytes(9) },
    },
  ],
};

export const part: RecordPart = {
  source: { subscription: "sub_1", group: "g", topic: "t", partition: 2 },
  settled: 4,
  next: 9,
  records: [{ offset: 4, request }],
};
