import { describe, expect, it } from "vitest";
import { Failure } from "../../src/errors.ts";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import { printInvocationId } from "../../src/model/id.ts";
import { fixture, told } from "./_fixture.ts";

const target = printInvocationId(Uint8Array.from({ length: 24 }, (_, at) => at * 9));
const id = printAwakeableId(target, 17);
const bytes = (text: string) => new TextEncoder().encode(text);
const signal = { target, id: { kind: "signal", index: 17 } };

// docs/spec/ingress.md#awakeables
describe("an awakeable", () => {
  it.each([
    [`/svc/awakeables/${id}/resolve`, "application/json"],
    [`/svc/a/${id}/resolve`, "text/plain"],
    [`/restate/awakeables/${id}/resolve`, "image/png"],
    [`/restate/a/${id}/resolve`, undefined],
    [`/svc/awakeables/${id}/resolve/x`, undefined],
  ])("is resolved by %s with whatever the body is", async (path, type) => {
    const { ask, invocations } = fixture();
    const value = Uint8Array.from({ length: 256 }, (_, at) => at);
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const response = await ask("POST", path, { headers, body: value });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe("");
    expect([...response.headers.keys()]).toEqual([]);
    expect(invocations.signals).toEqual([{ ...signal, result: { kind: "value", value } }]);
  });

  it("may be resolved with nothing", async () => {
    const { ask, invocations } = fixture();
    expect((await ask("POST", `/svc/a/${id}/resolve`)).status).toBe(202);
    const result = { kind: "value", value: new Uint8Array(0) };
    expect(invocations.signals).toEqual([{ ...signal, result }]);
  });

  it.each([
    [bytes("no, grüße"), "no, grüße"],
    [bytes(""), ""],
    [bytes('\ufeff"why"'), '\ufeff"why"'],
    [Uint8Array.of(0x61, 0xff), "a\ufffd"],
  ])("is rejected with the text of the body", async (body, message) => {
    const { ask, invocations } = fixture();
    const response = await ask("POST", `/svc/awakeables/${id}/reject`, { body });
    expect([response.status, await response.text()]).toEqual([202, ""]);
    const result = { kind: "failure", failure: { code: 500, message } };
    expect(invocations.signals).toEqual([{ ...signal, result }]);
  });

  it("of the oldest protocols is taken and forgotten", async () => {
    const { ask, invocations } = fixture();
    const path = `/svc/a/${id.replace("sign_", "prom_")}/resolve`;
    expect((await ask("POST", path, { body: "1" })).status).toBe(202);
    expect(invocations.signals).toEqual([]);
  });

  it("is none for a built-in signal: ingress does not cancel", async () => {
    const { ask, invocations } = fixture();
    for (const index of [0, 1, 15]) {
      const path = `/svc/a/${printAwakeableId(target, index)}/resolve`;
      expect((await ask("POST", path)).status).toBe(202);
    }
    expect(invocations.signals).toEqual([]);
  });

  it.each([
    ["foo", "bad format"],
    ["", "bad length"],
    ["sign_1", "id doesn't match the expected type"],
    [`${id}A`, "id doesn't match the expected type"],
    [id.replace("sign_1", "sign_2"), "unrecognized codec version"],
    [target, "id doesn't match the expected type"],
    [id.replace("sign", "sing"), "unrecognized resource type: sing"],
  ])("%j is refused", async (bad, wrong) => {
    const { ask, invocations } = fixture();
    for (const verb of ["resolve", "reject"]) {
      const response = await ask("POST", `/svc/awakeables/${bad}/${verb}`);
      expect(response.headers.get("x-svc-error-source")).toBe("ingress");
      const message = `bad awakeable id '${bad}': ${wrong}`;
      expect(await told(response)).toEqual([400, { code: 400, message, source: "ingress" }]);
    }
    expect(invocations.signals).toEqual([]);
  });

  it.each([
    ["GET", `/svc/awakeables/${id}/resolve`, 405, "method not allowed"],
    ["PUT", `/svc/a/${id}/reject`, 405, "method not allowed"],
    ["POST", `/svc/a/${id}/cancel`, 404, "not found"],
    [
      "POST",
      `/svc/awakeables/${id}`,
      400,
      "bad path, expected either /svc/awakeables/:id/resolve or /svc/awakeables/:id/reject",
    ],
  ])("%s %s is answered %d", async (method, path, status, message) => {
    const { ask } = fixture();
    expect(await told(await ask(method, path))).toEqual([
      status,
      { code: status, message, source: "ingress" },
    ]);
  });

  it("is not taken before that is durable", async () => {
    const { ask, invocations } = fixture();
    invocations.error = Failure.plain(503, "the partition is moving");
    expect((await ask("POST", `/svc/a/${id}/resolve`, { body: "1" })).status).toBe(503);
  });

  it("takes no more than the limit", async () => {
    const { ask, invocations } = fixture({ bodyBytesMax: 3 });
    expect((await ask("POST", `/svc/a/${id}/resolve`, { body: "1234" })).status).toBe(413);
    expect(invocations.signals).toEqual([]);
  });

  it("can be completed by a page", async () => {
    const { ask } = fixture();
    const headers = { origin: "https://page.example" };
    const response = await ask("POST", `/svc/a/${id}/resolve`, { headers });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://page.example");
  });
});
