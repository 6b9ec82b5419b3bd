import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/engine/event.ts";
import { Failure } from "../../src/errors.ts";
import { newInvocationId, parseInvocationId } from "../../src/model/id.ts";
import type { Operated } from "../../src/ports.ts";
import { discovered, refusal, service, setup } from "./_setup.ts";

const identity = { service: "Obj", handler: "h", key: "k", isWorkflowRun: false };
const { id } = newInvocationId(identity, new Uint8Array(16).fill(7), 1);
const unknownDeployment = "dp_16lq9KEFemrppKnYdVPzpTj";

const the = `The invocation '${id}'`;
const does = `The requested invocation '${id}' does not exist`;
const completed = `${the} was already completed.`;
const notPaused = `${the} is not running, cannot be paused.`;
const noChange = `${the} is still running or the deployment id is not pinned yet, ` +
  "deployment id cannot be changed.";
const notYet = `${the} is not yet completed.`;

/**
 * The status matrix (docs/spec/admin.md#operations-on-invocations): how a reply to an operation is
 * answered.
 */
const matrix: readonly [string, Operated["status"], number, string?][] = [
  ["cancel", "done", 200],
  ["cancel", "underway", 202],
  ["cancel", "unknown", 404, does],
  ["cancel", "completed", 409, completed],
  ["kill", "done", 200],
  ["kill", "unknown", 404, does],
  ["kill", "completed", 409, completed],
  ["pause", "done", 200],
  ["pause", "underway", 202],
  ["pause", "unknown", 404, does],
  ["pause", "notRunning", 409, notPaused],
  ["pause", "completed", 409, notPaused],
  ["resume", "done", 200],
  ["resume", "unknown", 404, does],
  ["resume", "completed", 409, `${the} is completed, cannot be resumed.`],
  ["resume", "notStarted", 425, `${the} is either inboxed or scheduled, cannot be resumed.`],
  ["resume?deployment=latest", "stillRunning", 409, noChange],
  ["resume?deployment=latest", "notPinned", 409, noChange],
  [
    `resume?deployment=${unknownDeployment}`,
    "unknownDeployment",
    400,
    `The given deployment was not found when trying to resume the invocation '${id}'.`,
  ],
  ["restart-as-new", "unknown", 404, does],
  [
    "restart-as-new",
    "notStarted",
    425,
    `${the} cannot be restarted because it's not running yet.`,
  ],
  ["restart-as-new", "stillRunning", 409, `${the} is still running.`],
  ["restart-as-new", "notCompleted", 409, `${the} is still running.`],
  [
    "restart-as-new",
    "noInput",
    410,
    `${the} cannot be restarted because the input is not available. This indicates that the ` +
    "journal was already purged, or not retained at all.",
  ],
  [
    "restart-as-new",
    "noRestart",
    422,
    `Restarting the invocation '${id}' is not supported. Restarting workflows is not ` +
    "supported, and restarting invocations created using the old service protocol.",
  ],
  [
    "restart-as-new?from=2",
    "openPrefix",
    400,
    `The prefix of the journal '${id}' up to 'from' (included) contains some Commands without ` +
    "respective Completions.",
  ],
  [
    `restart-as-new?deployment=${unknownDeployment}`,
    "unknownDeployment",
    400,
    `The given deployment was not found when trying to restart as new the invocation '${id}'.`,
  ],
  ["purge", "done", 200],
  ["purge", "unknown", 404, does],
  ["purge", "notCompleted", 409, notYet],
  ["purge-journal", "done", 200],
  ["purge-journal", "unknown", 404, does],
  ["purge-journal", "notCompleted", 409, notYet],
];

async function asked(path: string, answer: Operated["status"] | Error = "done") {
  const { send, invocations, ...rest } = await setup();
  invocations.answers.set(id, answer);
  const response = await send("PATCH", `/invocations/${id}/${path}`);
  return { response, operations: invocations.asked, ...rest };
}

describe("an operation on an invocation", () => {
  test.each(matrix)("%s that is %s is answered %i", async (path, status, expected, message) => {
    const { response } = await asked(path, status);
    expect(response.status).toBe(expected);
    if (message !== undefined) return expect(response.json).toEqual(refusal(null, message));
    expect(response.text).toBe("");
    expect(response.headers.get("content-type")).toBeNull();
  });

  test("is handed over as it was asked for", async () => {
    const deployment = { kind: "deployment", id: unknownDeployment };
    const latest = { kind: "latest" };
    const keep = { kind: "keep" };
    const newId = expect.stringMatching(/^inv_1/);
    const operations: readonly [string, unknown][] = [
      ["cancel", { kind: "cancel" }],
      ["kill", { kind: "kill" }],
      ["pause", { kind: "pause" }],
      ["purge", { kind: "purge" }],
      ["purge-journal", { kind: "purgeJournal" }],
      ["resume", { kind: "resume" }],
      ["resume?deployment=latest", { kind: "resume", deployment: latest }],
      ["resume?deployment=Latest", { kind: "resume", deployment: latest }],
      ["resume?deployment=keep", { kind: "resume", deployment: keep }],
      ["resume?deployment=Keep", { kind: "resume", deployment: keep }],
      [`resume?deployment=${unknownDeployment}`, { kind: "resume", deployment }],
      ["restart-as-new", { kind: "restart", newId, from: 0 }],
      ["restart-as-new?from=0", { kind: "restart", newId, from: 0 }],
      ["restart-as-new?from=4294967295", { kind: "restart", newId, from: 4294967295 }],
      ["restart-as-new?deployment=keep", { kind: "restart", newId, from: 0, deployment: keep }],
      ["restart-as-new?from=3&deployment=latest", {
        kind: "restart",
        newId,
        from: 3,
        deployment: latest,
      }],
    ];
    for (const [path, operation] of operations) {
      expect((await asked(path)).operations).toStrictEqual([{ id, operation }]);
    }
  });

  test("that restarts gives a fresh id of the same partition", async () => {
    const { response, operations } = await asked("restart-as-new");
    const operation = operations[0]?.operation as Operation & { kind: "restart" };
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ new_invocation_id: operation.newId });
    expect(operation.newId).not.toBe(id);
    expect(parseInvocationId(operation.newId).subarray(0, 8))
      .toEqual(parseInvocationId(id).subarray(0, 8));
    const again = await asked("restart-as-new");
    expect(again.response.json.new_invocation_id).not.toBe(operation.newId);
  });

  test("on a deployment of other protocol versions is refused with its range", async () => {
    const { endpoints, register, send, invocations } = await setup();
    const uri = "http://localhost:9080/";
    endpoints.set(uri, discovered([service("Obj")]));
    const deployment = (await register({ uri })).json.id;
    invocations.answers.set(id, "otherProtocol");
    for (const operation of ["resume", "restart-as-new"]) {
      const path = `/invocations/${id}/${operation}?deployment=${deployment}`;
      expect(await send("PATCH", path)).toMatchObject({
        status: 400,
        json: refusal(
          null,
          `${the} is running on protocol version '4', while the chosen deployment ` +
            `'${deployment}' supports the range 5..=7.`,
        ),
      });
    }
  });

  test("is refused when a query parameter cannot be used", async () => {
    const from = "The query parameter 'from' is invalid. " +
      "Reason: expected an integer from 0 to 4294967295";
    const bad = "The query parameter 'deployment' is invalid. Reason: bad format";
    const cases: readonly [string, string][] = [
      ["restart-as-new?from=-1", from],
      ["restart-as-new?from=x", from],
      ["restart-as-new?from=", from],
      ["restart-as-new?from=1.5", from],
      ["restart-as-new?from=1e3", from],
      ["restart-as-new?from=4294967296", from],
      ["restart-as-new?deployment=foo", bad],
      ["restart-as-new?deployment=", bad.replace("format", "length")],
      ["resume?deployment=LATEST", bad],
      [
        `resume?deployment=${id}`,
        "The query parameter 'deployment' is invalid. Reason: id doesn't match the expected type",
      ],
      [
        "resume?deployment=keep&deployment=latest",
        "The query parameter 'deployment' is invalid. Reason: it is given more than once",
      ],
    ];
    for (const [path, message] of cases) {
      const { response, operations } = await asked(path);
      expect(response).toMatchObject({ status: 400, json: refusal(null, message) });
      expect(operations).toEqual([]);
    }
  });

  test("is refused when the id is none", async () => {
    const { send, invocations } = await setup();
    const operations = ["cancel", "kill", "pause", "purge", "purge-journal", "resume"];
    const paths = [...operations, "restart-as-new"].map((one) => `/invocations/foo/${one}`);
    for (
      const [method, path] of [["DELETE", "/invocations/foo"], ...paths.map((p) => ["PATCH", p])]
    ) {
      expect(await send(method ?? "", path ?? "")).toMatchObject({
        status: 400,
        json: refusal(null, "The request field 'invocation_id' is invalid. Reason: bad format"),
      });
    }
    expect((await send("PATCH", `/invocations/${unknownDeployment}/kill`)).json.message)
      .toContain("id doesn't match the expected type");
    expect(invocations.asked).toEqual([]);
  });

  test("is answered as the partitions fail", async () => {
    const { response } = await asked("cancel", Failure.plain(503, "the server is shutting down"));
    expect(response).toMatchObject({
      status: 503,
      json: refusal(null, "the server is shutting down"),
    });
    const broken = await asked("kill", "notPinned");
    expect(broken.response).toMatchObject({ status: 500, json: refusal(null, "Internal error") });
    expect(broken.logged).toMatchObject([{ level: "error" }]);
  });

  test("is under every API version, and takes PATCH only", async () => {
    const { send, invocations } = await setup();
    for (const version of ["v2", "v3", "v4"]) {
      expect((await send("PATCH", `/${version}/invocations/${id}/pause`)).status).toBe(200);
    }
    expect(invocations.asked).toHaveLength(3);
    const { status, headers } = await send("POST", `/invocations/${id}/cancel`);
    expect([status, headers.get("allow")]).toEqual([405, "PATCH"]);
    expect((await send("PATCH", `/invocations/${id}/nope`)).status).toBe(404);
  });
});

describe("DELETE of an invocation", () => {
  test("takes a mode in either case, cancel when there is none", async () => {
    const modes = ["", "?mode=Cancel", "?mode=cancel", "?mode=Kill", "?mode=kill"];
    const kinds: string[] = [];
    for (const mode of [...modes, "?mode=Purge", "?mode=purge"]) {
      const { send, invocations } = await setup();
      expect(await send("DELETE", `/invocations/${id}${mode}`))
        .toMatchObject({ status: 202, text: "" });
      kinds.push(...invocations.asked.map(({ operation }) => operation.kind));
    }
    expect(kinds).toEqual(["cancel", "cancel", "cancel", "kill", "kill", "purge", "purge"]);
  });

  test("is answered 202 whatever becomes of it", async () => {
    const { send, invocations } = await setup();
    for (const status of ["underway", "unknown", "completed"] as const) {
      invocations.answers.set(id, status);
      expect((await send("DELETE", `/invocations/${id}`)).status).toBe(202);
    }
    invocations.answers.set(id, "notCompleted");
    expect((await send("DELETE", `/invocations/${id}?mode=Purge`)).status).toBe(202);
  });

  test("is refused for a mode there is not", async () => {
    const { send, invocations } = await setup();
    for (const mode of ["pause", "KILL", "", "constructor"]) {
      expect(await send("DELETE", `/invocations/${id}?mode=${mode}`)).toMatchObject({
        status: 400,
        json: refusal(
          null,
          "The query parameter 'mode' is invalid. Reason: expected 'Cancel', 'Kill' or 'Purge'",
        ),
      });
    }
    expect(invocations.asked).toEqual([]);
  });
});
