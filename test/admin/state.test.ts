import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { discovered, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const encode = (text: string) => new TextEncoder().encode(text);

async function withObjects(limits: Parameters<typeof setup>[1] = {}) {
  const all = await setup(undefined, limits);
  all.endpoints.set(
    uri,
    discovered([
      service("Svc"),
      service("Obj", [], { type: "virtual_object" }),
      service("Wf", [], { type: "workflow" }),
    ]),
  );
  await all.register({ uri });
  const { post, invocations } = all;
  return {
    edit: (name: string, body: unknown) => post(`/services/${name}/state`, body),
    invocations,
  };
}

describe("an edit of state", () => {
  test("hands over bytes and texts, and the version it is for", async () => {
    const { edit, invocations } = await withObjects();
    const state = { count: [49, 50], text: "ä", none: [], "": [0, 255] };
    const answer = await edit("Obj", { object_key: "k/1", new_state: state, version: "abc" });
    expect(answer).toMatchObject({ status: 202, text: "" });
    expect(invocations.edits).toEqual([{
      service: "Obj",
      key: "k/1",
      edit: {
        version: "abc",
        pairs: [
          { name: "count", value: encode("12") },
          { name: "text", value: encode("ä") },
          { name: "none", value: new Uint8Array(0) },
          { name: "", value: Uint8Array.of(0, 255) },
        ],
      },
    }]);
  });

  test("may clear all, for any version, of a workflow too", async () => {
    const { edit, invocations } = await withObjects();
    const body = { object_key: "", new_state: {}, version: null, scope: null };
    expect((await edit("Wf", body)).status).toBe(202);
    expect(invocations.edits).toEqual([{ service: "Wf", key: "", edit: { pairs: [] } }]);
  });

  test("of a name that every object has is an edit of that name", async () => {
    const { edit, invocations } = await withObjects();
    await edit("Obj", '{"object_key":"k","new_state":{"__proto__":[1],"constructor":[2]}}');
    expect(invocations.edits[0]?.edit.pairs.map(({ name }) => name))
      .toEqual(["__proto__", "constructor"]);
  });

  test.each([
    ["Nope", {}, 404, "The requested service 'Nope' does not exist"],
    ["Svc", {}, 400, "Cannot modify state for service type Service"],
    ["Obj", { scope: "s" }, 400, "scope is not supported for Virtual Object targets"],
    ["Wf", { scope: "s" }, 400, "scoped invocations require vqueues to be enabled"],
  ])("of %s with %j is refused with %i", async (name, more, status, message) => {
    const { edit, invocations } = await withObjects();
    for (const state of [{}, { a: [1] }]) {
      expect(await edit(name, { object_key: "k", new_state: state, ...more })).toMatchObject({
        status,
        json: refusal(null, message),
      });
    }
    expect(invocations.edits).toEqual([]);
  });

  test("of an object or workflow in a scope is handed over with it", async () => {
    const flowControl = { scopes: true, scopedObjects: true };
    const { edit, invocations } = await withObjects({ flowControl });
    for (const name of ["Obj", "Wf"]) {
      const body = { object_key: "k", new_state: {}, scope: "s" };
      expect((await edit(name, body)).status).toBe(202);
    }
    const edited = { key: "k", scope: "s", edit: { pairs: [] } };
    expect(invocations.edits).toEqual([{ ...edited, service: "Obj" }, {
      ...edited,
      service: "Wf",
    }]);
    expect(await edit("Obj", { object_key: "k", new_state: {}, scope: "a b" })).toMatchObject({
      status: 400,
      json: refusal(null, expect.stringMatching(/^bad scope: value contains/)),
    });
  });

  test("of an object in a scope is refused while only services may have one", async () => {
    const flowControl = { scopes: true, scopedObjects: false };
    const { edit, invocations } = await withObjects({ flowControl });
    const body = { object_key: "k", new_state: {}, scope: "s" };
    expect((await edit("Obj", body)).status).toBe(400);
    expect((await edit("Wf", body)).status).toBe(202);
    expect(invocations.edits.map(({ service }) => service)).toEqual(["Wf"]);
  });

  test.each([
    [{ new_state: {} }, "at 'object_key', expected a string"],
    [{ object_key: 5, new_state: {} }, "at 'object_key', expected a string"],
    [{ object_key: "k" }, "at 'new_state', expected an object"],
    [{ object_key: "k", new_state: [] }, "at 'new_state', expected an object"],
    [{ object_key: "k", new_state: { a: 5 } }, "at 'new_state.a', expected a string or an array"],
    [{ object_key: "k", new_state: { a: null } }, "at 'new_state.a', expected a string"],
    [{ object_key: "k", new_state: { a: [1, 256] } }, "at 'new_state.a.1', expected an integer"],
    [{ object_key: "k", new_state: { a: [-1] } }, "at 'new_state.a.0', expected an integer"],
    [{ object_key: "k", new_state: { a: [0.5] } }, "at 'new_state.a.0', expected an integer"],
    [{ object_key: "k", new_state: { a: ["1"] } }, "at 'new_state.a.0', expected an integer"],
    [{ object_key: "k", new_state: {}, version: 5 }, "at 'version', expected a string"],
    [{ object_key: "k", new_state: {}, scope: 5 }, "at 'scope', expected a string"],
  ])("of the wrong shape is refused: %j", async (body, message) => {
    const { edit, invocations } = await withObjects();
    expect(await edit("Obj", body)).toMatchObject({
      status: 422,
      json: refusal(null, expect.stringContaining(message)),
    });
    expect(invocations.edits).toEqual([]);
  });

  test("that the partition cannot take is refused with 503", async () => {
    const { edit, invocations } = await withObjects();
    invocations.editFault = Failure.plain(503, "The partition is stopping");
    expect(await edit("Obj", { object_key: "k", new_state: {} })).toMatchObject({
      status: 503,
      json: refusal(null, "The partition is stopping"),
    });
  });
});
