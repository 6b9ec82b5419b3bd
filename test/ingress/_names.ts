import type { Subject } from "../../src/model/command.ts";
import { printInvocationId } from "../../src/model/id.ts";

export const id = printInvocationId(Uint8Array.from({ length: 24 }, (_, at) => at * 7));
export const workflow: Subject = { by: "workflow", service: "Wf", key: "a b" };
export const plain = {
  by: "idempotencyKey",
  service: "Svc",
  handler: "opt",
  idempotencyKey: "ik",
} as const;
export const keyed: Subject = { ...plain, service: "Obj", handler: "set", key: "k" };
/** Target objects (docs/spec/ingress.md#attach-output-and-lookup), and the invocation that each names. */
export const bodies: readonly [body: unknown, subject: Subject][] = [
  [{ target: "invocation", invocationId: id }, { by: "invocation", id }],
  [{ target: "invocation", invocationId: id, scope: "not looked at!" }, { by: "invocation", id }],
  [{ target: "workflow", workflowName: "Wf", workflowKey: "a b" }, workflow],
  [
    { target: "workflow", workflowName: "Wf", workflowKey: "a b", scope: null, more: [1] },
    workflow,
  ],
  [{ target: "workflow", workflowName: "Wf", workflowKey: "" }, { ...workflow, key: "" }],
  [
    { target: "idempotentInvocation", service: "Svc", handler: "opt", idempotencyKey: "ik" },
    plain,
  ],
  [
    {
      target: "idempotentInvocation",
      service: "Svc",
      handler: "opt",
      key: null,
      idempotencyKey: "ik",
    },
    plain,
  ],
  [
    {
      target: "idempotentInvocation",
      service: "Obj",
      handler: "set",
      key: "k",
      idempotencyKey: "ik",
    },
    keyed,
  ],
];
