import { describe, expect, test } from "vitest";
import { batchIdsMax } from "../../src/admin/batches.ts";
import { Failure } from "../../src/errors.ts";
import { newInvocationId, parseInvocationId } from "../../src/model/id.ts";
import { refusal, setup } from "./_setup.ts";

function idOf(number: number): string {
  const identity = { service: "S", handler: "h", isWorkflowRun: false };
  return newInvocationId(identity, new Uint8Array(16).fill(number), number).id;
}

const [one, two, three] = [idOf(1), idOf(2), idOf(3)];
const path = (operation: string) => `/internal/invocations_batch_operations/${operation}`;

describe("a batch", () => {
  test.each([
    ["cancel", "cancel"],
    ["kill", "kill"],
    ["pause", "pause"],
    ["purge", "purge"],
    ["purge-journal", "purgeJournal"],
    ["resume", "resume"],
  ])("%s asks each invocation, in order", async (operation, kind) => {
    const { post, invocations } = await setup();
    invocations.answers.set(two, "underway");
    const { status, json } = await post(path(operation), { invocation_ids: [two, one, three] });
    expect(status).toBe(200);
    expect(json).toEqual({ succeeded: [two, one, three], failed: [] });
    expect(invocations.asked).toStrictEqual(
      [two, one, three].map((id) => ({ id, operation: { kind } })),
    );
  });

  test("lists failures separately, each with its reason", async () => {
    const { post, invocations } = await setup();
    invocations.answers.set(one, "notRunning").set(three, "unknown");
    const { status, json } = await post(path("pause"), { invocation_ids: [one, two, three] });
    expect(status).toBe(200);
    expect(json).toEqual({
      succeeded: [two],
      failed: [
        { invocation_id: one, error: `Invocation '${one}' is not running, cannot be paused` },
        { invocation_id: three, error: `Invocation '${three}' not found` },
      ],
    });
  });

  test("one member that could not be asked does not hide the others", async () => {
    const { post, invocations } = await setup();
    invocations.answers.set(one, Failure.plain(503, "too many events are waiting"));
    expect((await post(path("kill"), { invocation_ids: [one, two] })).json).toEqual({
      succeeded: [two],
      failed: [{ invocation_id: one, error: "too many events are waiting" }],
    });
    invocations.answers.set(one, new TypeError("a bug"));
    expect((await post(path("kill"), { invocation_ids: [one, two] })).status).toBe(500);
  });

  test("says in few words why a member was not restarted or resumed", async () => {
    const { post, invocations } = await setup();
    invocations.answers.set(one, "noRestart").set(two, "noInput").set(three, "unknownDeployment");
    const restarted = await post(path("restart-as-new"), { invocation_ids: [one, two, three] });
    expect(restarted.json.failed).toEqual([
      { invocation_id: one, error: `Restarting invocation '${one}' is not supported` },
      {
        invocation_id: two,
        error: `Invocation '${two}' cannot be restarted because the input is not available`,
      },
      { invocation_id: three, error: `Deployment not found when restarting invocation '${three}'` },
    ]);
    const resumed = await post(path("resume"), { invocation_ids: [three] });
    expect(resumed.json.failed).toEqual([
      { invocation_id: three, error: `Deployment not found when resuming invocation '${three}'` },
    ]);
  });

  test.each(["cancel", "kill", "pause", "purge", "purge-journal"])(
    "%s knows no deployment, and so ignores what is called so",
    async (operation) => {
      const { post } = await setup();
      for (const deployment of ["", "LATEST", 1, {}]) {
        const { json } = await post(path(operation), { invocation_ids: [one], deployment });
        expect(json).toEqual({ succeeded: [one], failed: [] });
      }
    },
  );

  test("restarts from the beginning, each under a new id of its partition", async () => {
    const { post, invocations } = await setup();
    invocations.answers.set(two, "noRestart");
    const { status, json } = await post(path("restart-as-new"), {
      invocation_ids: [one, two],
      deployment: "Keep",
    });
    expect(status).toBe(200);
    expect(json).toEqual({
      succeeded: [{ old_invocation_id: one, new_invocation_id: expect.stringMatching(/^inv_1/) }],
      failed: [{ invocation_id: two, error: expect.stringContaining("is not supported") }],
    });
    const newId: string = json.succeeded[0].new_invocation_id;
    expect(newId).not.toBe(one);
    expect(parseInvocationId(newId).subarray(0, 8))
      .toEqual(parseInvocationId(one).subarray(0, 8));
    expect(invocations.asked[0]).toStrictEqual({
      id: one,
      operation: { kind: "restart", newId, from: 0, deployment: { kind: "keep" } },
    });
  });

  test("resumes on the deployment it names", async () => {
    const { post, invocations } = await setup();
    const id = "dp_16lq9KEFemrppKnYdVPzpTj";
    for (const deployment of ["Latest", "latest", "Keep", "keep", id, null]) {
      await post(path("resume"), { invocation_ids: [one], deployment });
    }
    expect(invocations.asked.map(({ operation }) => operation)).toStrictEqual([
      { kind: "resume", deployment: { kind: "latest" } },
      { kind: "resume", deployment: { kind: "latest" } },
      { kind: "resume", deployment: { kind: "keep" } },
      { kind: "resume", deployment: { kind: "keep" } },
      { kind: "resume", deployment: { kind: "deployment", id } },
      { kind: "resume" },
    ]);
  });

  test("may be empty, and has a limit", async () => {
    const { post, invocations } = await setup();
    expect(await post(path("kill"), { invocation_ids: [] })).toMatchObject({
      status: 200,
      json: { succeeded: [], failed: [] },
    });
    const most = Array.from({ length: batchIdsMax }, () => one);
    expect((await post(path("kill"), { invocation_ids: most })).json.succeeded).toEqual(most);
    invocations.asked.length = 0;
    expect(await post(path("kill"), { invocation_ids: [...most, two] })).toMatchObject({
      status: 400,
      json: refusal(null, "Batch size 1001 exceeds maximum allowed size of 1000"),
    });
    expect(invocations.asked).toEqual([]);
  });

  test.each([
    [[], "expected an object"],
    [{}, "at 'invocation_ids', expected an array"],
    [{ invocation_ids: one }, "at 'invocation_ids', expected an array"],
    [{ invocation_ids: [one, "foo"] }, "at 'invocation_ids.1', bad format"],
    [{ invocation_ids: [one, 7] }, "at 'invocation_ids.1', expected a string"],
    [{ invocation_ids: [one], deployment: {} }, "at 'deployment', expected a string"],
  ])("of the wrong shape is refused as a whole: %j", async (body, why) => {
    const { post, send, invocations } = await setup();
    expect(await post(path("resume"), body)).toMatchObject({
      status: 422,
      json: refusal(null, `Cannot use the request body: ${why}`),
    });
    expect((await send("POST", path("resume"), { body: JSON.stringify(body) })).status).toBe(415);
    expect((await send("PATCH", path("resume"))).headers.get("allow")).toBe("POST");
    expect(invocations.asked).toEqual([]);
  });

  test("on a deployment that cannot be is refused as a whole", async () => {
    const { post, invocations } = await setup();
    expect(await post(path("resume"), { invocation_ids: [one], deployment: "foo" })).toMatchObject({
      status: 400,
      json: refusal(null, "The request field 'deployment' is invalid. Reason: bad format"),
    });
    expect(invocations.asked).toEqual([]);
  });
});
