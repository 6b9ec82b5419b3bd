import { describe, expect, it } from "vitest";
import { fixture, NOW, told } from "./_fixture.ts";

const asJson = { "content-type": "application/json" };
const headers = { "idempotency-key": "k" };
const EXPIRES = "2026-11-21T15:35:59.772+00:00";
const expiresAt = Date.parse(EXPIRES);

// docs/spec/ingress.md#idempotency, docs/spec/ingress.md#workflows
describe("a second submission of a workflow", () => {
  it("as a call fails, as the invocation's own failure", async () => {
    const { ask, invocations } = fixture();
    const failure = { code: 409, message: "Previously accepted" };
    invocations.result = { kind: "failure", failure };
    const response = await ask("POST", "/svc/call/Wf/w/run");
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "application/json",
      "x-svc-error-source": "invocation",
      "x-svc-id": invocations.calls[0]?.id,
    });
    expect(await told(response)).toEqual([409, { ...failure, source: "invocation" }]);
  });

  it.each(["/svc/send/Wf/w/run", "/restate/send/Wf/w/run", "/Wf/w/run/send"])(
    "as %s is told the first one's id",
    async (path) => {
      const { ask, invocations } = fixture();
      await ask("POST", "/svc/call/Wf/w/run");
      invocations.accepted = { status: "previouslyAccepted" };
      const response = await ask("POST", path);
      const invocationId = invocations.calls[0]?.id;
      expect(await told(response)).toEqual([202, { invocationId, status: "PreviouslyAccepted" }]);
    },
  );

  it("is nothing special for another handler", async () => {
    const { ask, invocations } = fixture();
    await ask("POST", "/svc/call/Wf/w/peek");
    await ask("POST", "/svc/call/Wf/w/peek");
    const [one, two] = invocations.calls;
    expect([one?.fresh, two?.fresh]).toEqual([true, true]);
    expect(one?.id).not.toBe(two?.id);
  });
});

describe("a repeat with an idempotency key", () => {
  it("is the same invocation whatever else it says", async () => {
    const { ask, invocations: { calls, sends } } = fixture();
    const more = { ...headers, ...asJson };
    await ask("POST", "/svc/call/Obj/k/set", { headers });
    await ask("POST", "/svc/call/Obj/k/set?x=1", { headers: { ...more, "x-a": "b" }, body: "2" });
    await ask("POST", "/svc/send/Obj/k/set?delay=1h", { headers });
    await ask("POST", "/Obj/k/set/send", { headers: more, body: "3" });
    expect(new Set([...calls, ...sends].map(({ id }) => id)).size).toBe(1);
  });

  it("is another one for another object, handler or key", async () => {
    const { ask, invocations: { calls } } = fixture();
    for (const path of ["Obj/k/set", "Obj/l/set", "Obj//set", "Obj/k/get", "Svc/opt", "Svc/any"]) {
      await ask("POST", `/svc/call/${path}`, { headers: { ...headers, ...asJson } });
    }
    await ask("POST", "/svc/call/Svc/opt", { headers: { "idempotency-key": "" } });
    expect(calls).toHaveLength(7);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(7);
  });

  it("is checked like the first one", async () => {
    const { ask, invocations } = fixture();
    const response = await ask("POST", "/svc/call/Svc/opt", { headers, body: new Uint8Array(1) });
    expect(response.status).toBe(400);
    expect(invocations.calls).toEqual([]);
  });

  it("tells when a stored result expires, and only then", async () => {
    const { ask, invocations } = fixture();
    const first = await ask("POST", "/svc/call/Svc/opt", { headers });
    expect(first.headers.has("idempotency-expires")).toBe(false);
    invocations.expiresAt = expiresAt;
    const again = await ask("POST", "/svc/call/Svc/opt", { headers });
    expect(again.headers.get("idempotency-expires")).toBe(EXPIRES);
    expect(again.headers.get("x-svc-id")).toBe(first.headers.get("x-svc-id"));
  });
});

describe("a repeat of a delayed send", () => {
  const started = new Date(NOW + 1000).toISOString().replace("Z", "000000Z");

  it.each(["", "?delay=9d"])("with %j is told the original start", async (query) => {
    const { ask, invocations } = fixture();
    invocations.accepted = { status: "previouslyAccepted", startAt: NOW + 1000 };
    const response = await ask("POST", `/svc/send/Svc/opt${query}`, { headers });
    expect(await told(response)).toEqual([202, {
      invocationId: invocations.sends[0]?.id,
      executionTime: started,
      status: "PreviouslyAccepted",
    }]);
  });

  it("that had no delay is told none", async () => {
    const { ask, invocations } = fixture();
    invocations.accepted = { status: "previouslyAccepted" };
    const response = await ask("POST", "/svc/send/Svc/opt?delay=9d", { headers });
    expect(await response.json()).not.toHaveProperty("executionTime");
  });
});
