import { describe, expect, it } from "vitest";
import { Failure } from "../../src/errors.ts";
import type { Subject } from "../../src/model/command.ts";
import type { Result } from "../../src/model/journal.ts";
import { Schema } from "../../src/model/schema.ts";
import { idOf } from "../../src/model/subject.ts";
import type { Target } from "../../src/model/target.ts";
import { type Fixture, fixture, schemaOf, told } from "./_fixture.ts";
import { bodies, id, keyed, plain, workflow } from "./_names.ts";

const expiresAt = Date.parse("2026-11-21T15:36:46.617Z");
const opt: Target = { service: "Svc", handler: "opt", type: "service", access: "none" };
const value = (text: string): Result => ({ kind: "value", value: new TextEncoder().encode(text) });
const headersOf = ({ headers }: Response) => Object.fromEntries(headers);
const verbs = ["attach", "output"] as const;

function asked({ invocations: { attaches, outputs } }: Fixture): readonly string[] {
  return [...attaches, ...outputs];
}

const paths = (verb: string): readonly [path: string, subject: Subject][] => [
  [`/svc/${verb}/${id}`, { by: "invocation", id }],
  [`/restate/${verb}/${id}`, { by: "invocation", id }],
  [`/svc/invocation/${id}/${verb}`, { by: "invocation", id }],
  [`/svc/workflow/Wf/a%20b/${verb}`, workflow],
  [`/svc/workflow/Gone/k/${verb}`, { by: "workflow", service: "Gone", key: "k" }],
  [`/svc/invocation/Svc/opt/ik/${verb}`, plain],
  [`/svc/invocation/Svc/opt/a%20b/${verb}`, { ...plain, idempotencyKey: "a%20b" }],
  [`/svc/invocation/Obj/k/set/ik/${verb}`, keyed],
];

describe.each(verbs)("%s", (verb) => {
  it.each(paths(verb))("by %s asks for the one that is meant", async (path, subject) => {
    const served = fixture();
    served.invocations.existing = opt;
    const response = await served.ask("GET", path);
    expect(asked(served)).toEqual([idOf(subject)]);
    expect(response.headers.get(path.startsWith("/r") ? "x-restate-id" : "x-svc-id"))
      .toBe(idOf(subject));
    expect(await response.text()).toBe('"ok"');
  });

  it.each(bodies)("by %j asks for the one that is meant", async (body, subject) => {
    const served = fixture();
    served.invocations.existing = opt;
    const headers = { "content-type": "text/whatever" };
    const response = await served.ask("POST", `/svc/${verb}`, {
      headers,
      body: JSON.stringify(body),
    });
    expect(asked(served)).toEqual([idOf(subject)]);
    expect(response.headers.get("x-svc-id")).toBe(idOf(subject));
    expect(response.status).toBe(200);
  });

  it("finds what was submitted with the same name", async () => {
    const served = fixture();
    const { ask, invocations: { calls } } = served;
    const headers = { "idempotency-key": "ik" };
    await ask("POST", "/svc/call/Wf/a%20b/run");
    await ask("POST", "/svc/call/Svc/opt", { headers });
    await ask("POST", "/svc/call/Obj/k/set", { headers });
    for (const at of [2, 5, 7]) {
      await ask("POST", `/svc/${verb}`, { body: JSON.stringify(bodies[at]?.[0]) });
    }
    expect(asked(served)).toEqual(calls.map(({ id }) => id));
  });

  it("of a success is the bytes, the declared content type and when it expires", async () => {
    const { ask, invocations } = fixture();
    Object.assign(invocations, { existing: opt, expiresAt });
    const response = await ask("GET", `/svc/${verb}/${id}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('"ok"');
    expect(headersOf(response)).toEqual({
      "content-type": "application/json",
      "idempotency-expires": "2026-11-21T15:36:46.617+00:00",
      "x-svc-id": id,
    });
  });

  it.each([
    ["plain", "", "text/plain"],
    ["untyped", "x", null],
    ["bare", "{}", "application/json"],
    ["opt", "", null],
  ])("of %s that returned %j has content type %s", async (handler, text, type) => {
    const { ask, invocations } = fixture();
    Object.assign(invocations, { existing: { ...opt, handler }, result: value(text) });
    const response = await ask("GET", `/svc/${verb}/${id}`);
    expect(response.headers.get("content-type")).toBe(type);
    expect(await response.text()).toBe(text);
  });

  it("of a failure is its status and body", async () => {
    const { ask, invocations } = fixture();
    const failure = { code: 418, message: "end", metadata: [["k", "v"]] };
    const result = { kind: "failure", failure };
    // A failure needs no handler to be read: the service may be gone.
    Object.assign(invocations, { existing: { ...opt, service: "Gone" }, expiresAt, result });
    const response = await ask("GET", `/svc/${verb}/${id}`);
    expect(headersOf(response)).toEqual({
      "content-type": "application/json",
      "idempotency-expires": "2026-11-21T15:36:46.617+00:00",
      "x-svc-error-source": "invocation",
      "x-svc-id": id,
    });
    expect(await told(response)).toEqual([
      418,
      { code: 418, message: "end", metadata: { k: "v" }, source: "invocation" },
    ]);
  });

  it.each<readonly [string, Partial<Target>]>([
    ["service", { service: "Gone" }],
    ["handler", { handler: "gone" }],
    ["handler with a name that every object has", { handler: "constructor" }],
  ])("of a success whose %s is gone is not found", async (_what, gone) => {
    const { ask, invocations } = fixture();
    Object.assign(invocations, { existing: { ...opt, ...gone }, expiresAt });
    const lost = await ask("GET", `/svc/${verb}/${id}`);
    invocations.existing = "unknown";
    const unknown = await ask("GET", `/svc/${verb}/${id}`);
    expect(lost.status).toBe(404);
    expect(headersOf(lost)).toEqual(headersOf(unknown));
    expect(await lost.text()).toBe(await unknown.text());
  });

  it("in a scope asks for another invocation, even while scopes are not enabled", async () => {
    const served = fixture();
    served.invocations.existing = opt;
    const named = bodies[2]?.[0] as object;
    const of = async (body: object) => {
      expect((await served.ask("POST", `/svc/${verb}`, { body: JSON.stringify(body) })).status)
        .toBe(200);
      return asked(served).at(-1);
    };
    const [plain, scoped] = [await of(named), await of({ ...named, scope: "s" })];
    expect(scoped).not.toBe(plain);
    expect(await of({ ...named, scope: "s" })).toBe(scoped);
  });

  it("is refused when the partition is away, and may be asked again", async () => {
    const { ask, invocations } = fixture();
    invocations.error = Failure.plain(503, "the partition is moving");
    expect(await told(await ask("GET", `/svc/${verb}/${id}`))).toEqual([
      503,
      { code: 503, message: "the partition is moving", source: "ingress" },
    ]);
  });

  it("answers in both spellings only on paths that have none", async () => {
    const { ask, invocations } = fixture();
    invocations.existing = opt;
    const response = await ask("GET", `/restate/workflow/Wf/k/${verb}`);
    expect(Object.keys(headersOf(response))).toEqual(["content-type", "x-restate-id"]);
  });
});

describe("output", () => {
  it.each(
    [
      ["notReady", 470, '{"message":"not ready"}'],
      ["unknown", 404, '{"message":"not found"}'],
    ] as const,
  )("of what is %s is %d %s", async (existing, status, body) => {
    const { ask, invocations } = fixture();
    invocations.existing = existing;
    for (
      const response of [
        await ask("GET", `/svc/output/${id}`),
        await ask("POST", "/svc/output", { body: JSON.stringify(bodies[0]?.[0]) }),
        await ask("GET", "/svc/workflow/Wf/k/output"),
      ]
    ) {
      expect(response.status).toBe(status);
      expect(await response.text()).toBe(body);
      expect(headersOf(response)).toEqual({
        "content-type": "application/json",
        "x-svc-error-source": "ingress",
      });
    }
  });
});

describe("attach", () => {
  it("to an unknown invocation is that invocation's failure", async () => {
    const { ask } = fixture();
    const response = await ask("GET", `/svc/attach/${id}`);
    expect(headersOf(response)).toEqual({
      "content-type": "application/json",
      "x-svc-error-source": "invocation",
      "x-svc-id": id,
    });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('{"code":404,"message":"not found","source":"invocation"}');
  });

  it("to what completes meanwhile says nothing of expiry", async () => {
    const { ask, invocations } = fixture();
    invocations.existing = opt;
    const response = await ask("GET", `/svc/attach/${id}`);
    expect(response.headers.has("idempotency-expires")).toBe(false);
  });

  it.each(["GET", "POST"])("by %s is forgotten when its caller leaves", async (method) => {
    const { serve, invocations, logged } = fixture();
    invocations.existing = "notReady";
    const gone = new AbortController();
    const { signal } = gone;
    const path = method === "GET" ? `attach/${id}` : "attach";
    const body = method === "GET" ? {} : { body: JSON.stringify(bodies[0]?.[0]) };
    const answer = serve(new Request(`http://x/svc/${path}`, { method, signal, ...body }));
    await expect.poll(() => invocations.attaches).toEqual([id]);
    gone.abort();
    expect((await answer).status).toBe(499);
    expect(invocations.left).toBe(1);
    expect(logged).toEqual([]);
  });

  it("goes by the registry as it is when the result comes", async () => {
    let schema = schemaOf("svc");
    const { ask, invocations } = fixture({ schema: () => schema });
    invocations.attach = () => {
      const [deployment] = schema.deployments.values();
      if (!deployment) throw new Error("The fixture has a deployment");
      const services = deployment.services.map((one) => ({
        ...one,
        revision: 2,
        handlers: Object.fromEntries(
          Object.entries(one.handlers).map(([name, handler]) => [name, {
            ...handler,
            output: { contentType: "text/new", setContentTypeIfEmpty: false },
          }]),
        ),
      }));
      schema = new Schema([{ ...deployment, services }], schema.defaults);
      return Promise.resolve({ target: opt, result: value("x") });
    };
    const response = await ask("GET", `/svc/attach/${id}`);
    expect(response.headers.get("content-type")).toBe("text/new");
  });
});
