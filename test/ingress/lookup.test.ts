import { describe, expect, it } from "vitest";
import { idOf } from "../../src/model/subject.ts";
import { fixture } from "./_fixture.ts";
import { bodies } from "./_names.ts";

describe("lookup", () => {
  const lookUp = async (body: unknown) => {
    const { ask, invocations: { attaches, outputs } } = fixture();
    const response = await ask("POST", "/svc/lookup", { body: JSON.stringify(body) });
    expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "application/json" });
    expect(response.status).toBe(200);
    expect([...attaches, ...outputs]).toEqual([]);
    const { invocationId } = await response.json() as { invocationId: string };
    return invocationId;
  };

  it.each(bodies)("of %j is computed", async (body, subject) => {
    expect(await lookUp(body)).toBe(idOf(subject));
  });

  // docs/spec/service-protocol.md#ids-of-named-invocations, and two ids of the reference.
  it.each([
    [{ target: "workflow", workflowName: "Wf", workflowKey: "w1" }, "2WqsVOkAjH4phS34cOyIC8"],
    [
      {
        target: "idempotentInvocation",
        service: "Svc",
        handler: "echo",
        idempotencyKey: "k",
      },
      "2eC36mCWJAPsRw7cEkADSb",
    ],
    [
      {
        target: "idempotentInvocation",
        service: "Obj",
        key: "kk",
        handler: "echo",
        idempotencyKey: "k",
      },
      "3IHpYufQ90ZLBnSgjYqJ4O",
    ],
    [
      {
        target: "idempotentInvocation",
        service: "Svc",
        handler: "echo",
        idempotencyKey: "k",
        scope: "s",
      },
      "3drgtUa4GRiRnneazpD7yh",
    ],
  ])("of %j ends as everywhere", async (named, unique) => {
    expect((await lookUp(named)).slice(-unique.length)).toBe(unique);
  });

  it("works for what does not exist", async () => {
    const named = { target: "idempotentInvocation", service: "No", handler: "no" };
    const one = await lookUp({ ...named, idempotencyKey: "" });
    // A key of a service that has none changes the id without a word.
    const other = await lookUp({ ...named, idempotencyKey: "", key: "" });
    expect(one).not.toBe(other);
  });

  it("in a scope is always the same, and another", async () => {
    const workflow = { target: "workflow", workflowName: "Wf", workflowKey: "k" };
    const idempotent = {
      target: "idempotentInvocation",
      service: "Svc",
      handler: "opt",
      idempotencyKey: "k",
    };
    for (const named of [workflow, idempotent]) {
      const ids = [undefined, "s", "t"].map((scope) => lookUp({ ...named, scope }));
      const [none, s, t] = await Promise.all(ids);
      expect(new Set([none, s, t]).size).toBe(3);
      expect(await lookUp({ ...named, scope: "s" })).toBe(s);
    }
  });
});
