import { describe, expect, it } from "vitest";
import { fixture, told } from "./_fixture.ts";

const idExample = "; an invocation id looks like inv_17kO36pqgIap3xDjDhLpCIiunpzEd8hWuT";

const id = `inv_1${"0".repeat(33)}`;
const workflow = { target: "workflow", workflowName: "Wf", workflowKey: "k" };
const idempotent = {
  target: "idempotentInvocation",
  service: "Svc",
  handler: "opt",
  idempotencyKey: "ik",
};
const json = (value: unknown) => JSON.stringify(value);
const missing = (value: object, name: string): [body: string, wrong: string] => [
  json({ ...value, [name]: undefined }),
  `invalid request body: missing field '${name}'`,
];

// docs/spec/ingress.md#attach-output-and-lookup: 400 with what is wrong, never a 500.
const rows: [body: string | Uint8Array, wrong: string | RegExp][] = [
  ["", "invalid request body: it is empty, expected a target object"],
  ['{"target":', /^invalid request body: it is not JSON: /],
  [Uint8Array.of(0x22, 0xff, 0x22), "invalid request body: it is not JSON: it is not UTF-8"],
  ["null", "invalid request body: expected an object, not null"],
  ["[]", "invalid request body: expected an object, not an array"],
  ['"workflow"', "invalid request body: expected an object, not a string"],
  ["{}", "invalid request body: missing field 'target'"],
  ['{"__proto__":{"target":"workflow"}}', "invalid request body: missing field 'target'"],
  [json({ target: 5 }), "invalid request body: field 'target' must be a string, not a number"],
  [
    json({ target: "Workflow" }),
    "invalid request body: unknown 'target', expected 'workflow', 'idempotentInvocation' or " +
    "'invocation'",
  ],
  ...["workflowName", "workflowKey"].map((name) => missing(workflow, name)),
  ...["service", "handler", "idempotencyKey"].map((name) => missing(idempotent, name)),
  [json({ target: "invocation" }), "invalid request body: missing field 'invocationId'"],
  [json({ ...workflow, workflowKey: null }), "invalid request body: missing field 'workflowKey'"],
  [
    json({ ...workflow, workflowKey: {} }),
    "invalid request body: field 'workflowKey' must be a string, not an object",
  ],
  [
    json({ ...idempotent, key: ["k"] }),
    "invalid request body: field 'key' must be a string, not an array",
  ],
  [
    json({ ...idempotent, key: true }),
    "invalid request body: field 'key' must be a string, not a boolean",
  ],
  [
    '{"target":"workflow","workflowName":"Wf","workflowKey":"\\ud800"}',
    "invalid request body: field 'workflowKey' is not well-formed Unicode",
  ],
  [
    json({ ...workflow, scope: 1 }),
    "invalid request body: field 'scope' must be a string, not a number",
  ],
  [json({ ...workflow, scope: "" }), "bad scope value: value cannot be empty"],
  [
    json({ ...idempotent, scope: "a b" }),
    "bad scope value: value contains characters outside the allowed set [a-zA-Z0-9_.-]",
  ],
  [
    json({ ...workflow, scope: "a".repeat(37) }),
    "bad scope value: value too long: 37 bytes (max 36)",
  ],
  [
    json({ target: "invocation", invocationId: "foo" }),
    `bad invocation id 'foo': bad format${idExample}`,
  ],
  [
    json({ target: "invocation", invocationId: "inv_xyz" }),
    `bad invocation id 'inv_xyz': unrecognized codec version${idExample}`,
  ],
  [
    json({ target: "invocation", invocationId: id.replace("inv", "dp") }),
    `bad invocation id '${
      id.replace("inv", "dp")
    }': id doesn't match the expected type${idExample}`,
  ],
  [
    json({ target: "invocation", invocationId: "x".repeat(5000) }),
    `bad invocation id '${"x".repeat(100)}…': bad format${idExample}`,
  ],
];

describe.each(["attach", "output", "lookup"])("a malformed target object for %s", (verb) => {
  it.each(rows)("%j is refused", async (body, wrong) => {
    const { ask, invocations, logged } = fixture();
    const response = await ask("POST", `/svc/${verb}`, { body });
    expect(response.headers.get("x-svc-error-source")).toBe("ingress");
    expect(response.headers.has("x-svc-id")).toBe(false);
    expect(await told(response)).toEqual([400, {
      code: 400,
      message: typeof wrong === "string" ? wrong : expect.stringMatching(wrong),
      source: "ingress",
    }]);
    expect([...invocations.attaches, ...invocations.outputs, ...logged]).toEqual([]);
  });

  it("that is too long is refused unread", async () => {
    const { ask } = fixture({ bodyBytesMax: 10 });
    const declared = { headers: { "content-length": "11" }, body: json(workflow) };
    expect((await ask("POST", `/svc/${verb}`, declared)).status).toBe(413);
    expect((await ask("POST", `/svc/${verb}`, { body: json(workflow) })).status).toBe(413);
  });
});

it("of repeated fields the last counts, and a byte order mark is none of the text", async () => {
  const { ask } = fixture();
  const body = `\ufeff{"target":"workflow","target":"invocation","invocationId":"${id}"}`;
  expect(await told(await ask("POST", "/svc/lookup", { body }))).toEqual([200, {
    invocationId: id,
  }]);
});
