import { describe, expect, test } from "vitest";
import { idOf } from "../../src/model/subject.ts";
import { discovered, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const KEY = { object_key: "k/1", name: "go" };
const WORKFLOW = { service: "Wf", key: "k/1" };

async function withWorkflow(limits: Parameters<typeof setup>[1] = {}) {
  const all = await setup(undefined, limits);
  all.endpoints.set(uri, discovered([service("Svc"), service("Wf", [], { type: "workflow" })]));
  await all.register({ uri });
  const { post, invocations } = all;
  return {
    invocations,
    complete: (how: "resolve" | "reject", name: string, body: unknown) =>
      post(`/internal/services/${name}/promises/${how}`, body),
  };
}

describe("a promise of a workflow", () => {
  test("is resolved with a text, or with bytes", async () => {
    const { complete, invocations } = await withWorkflow();
    for (const value of ['{"a":"ä"}', "", [0, 255]]) {
      const answer = await complete("resolve", "Wf", { ...KEY, value, scope: null });
      expect(answer).toMatchObject({ status: 200, text: "" });
    }
    const run = idOf({ by: "workflow", ...WORKFLOW });
    const encoded = [new TextEncoder().encode('{"a":"ä"}'), new Uint8Array(0)];
    expect(invocations.promises).toEqual(
      [...encoded, Uint8Array.of(0, 255)].map((value) => (
        { object: WORKFLOW, name: "go", run, result: { kind: "value", value } }
      )),
    );
  });

  test("is rejected with a message", async () => {
    const { complete, invocations } = await withWorkflow();
    await complete("reject", "Wf", { ...KEY, message: "too late" });
    expect(invocations.promises).toMatchObject([
      { result: { kind: "failure", failure: { code: 500, message: "too late" } } },
    ]);
  });

  test("of a workflow in a scope is another one", async () => {
    const flowControl = { scopes: true, scopedObjects: false };
    const { complete, invocations } = await withWorkflow({ flowControl });
    await complete("resolve", "Wf", { ...KEY, value: "1", scope: "eu" });
    const object = { ...WORKFLOW, scope: "eu" };
    expect(invocations.promises).toMatchObject([
      { object, run: idOf({ by: "workflow", ...object }) },
    ]);
  });

  test.each([
    ["Nope", {}, 404, "The requested service 'Nope' does not exist"],
    ["Svc", {}, 400, "Cannot complete promises of service type Service: it has none"],
    ["Wf", { scope: "s" }, 400, "scoped invocations require vqueues to be enabled"],
    [
      "Wf",
      { value: 1 },
      422,
      "Cannot use the request body: at 'value', expected a string or an array of bytes",
    ],
    [
      "Wf",
      { value: [256] },
      422,
      "Cannot use the request body: at 'value.0', expected an integer from 0 to 255",
    ],
  ])("of %s with %j is refused with %i", async (name, more, status, message) => {
    const { complete, invocations } = await withWorkflow();
    const answer = await complete("resolve", name, { ...KEY, value: "1", ...more });
    expect(answer).toMatchObject({ status, json: refusal(null, message) });
    expect(invocations.promises).toEqual([]);
  });

  test.each(
    [
      ["completed", 409, "it was completed before"],
      ["unknown", 404, "no run of the workflow is stored, and nothing has used it"],
    ] as const,
  )("that is %s is refused with %i, which says so", async (taken, status, why) => {
    const { complete, invocations } = await withWorkflow();
    invocations.promiseTaken = taken;
    const message = `Cannot complete the promise 'go' of 'Wf/k/1': ${why}`;
    for (const how of ["resolve", "reject"] as const) {
      const answer = await complete(how, "Wf", { ...KEY, value: "1", message: "no" });
      expect(answer).toMatchObject({ status, json: refusal(null, message) });
    }
  });
});
