import { describe, expect, it, test } from "vitest";
import { partitionOfId, partitionOfObject } from "../../src/model/ring.ts";
import { type AskInit, fixture, told } from "./_fixture.ts";

const services = { scopes: true, scopedObjects: false };
const all = { scopes: true, scopedObjects: true };

/** What the handler is asked for. Throws unless the request is accepted. */
async function accepted(path: string, init: AskInit = {}, flowControl = all) {
  const { ask, invocations } = fixture({ flowControl });
  const response = await ask("POST", path, init);
  if (response.status > 202) throw new Error(`${path} answered ${await response.text()}`);
  const [request] = [...invocations.calls, ...invocations.sends];
  if (!request) throw new Error(`${path} asked for nothing`);
  return request;
}

async function refusal(path: string, init: AskInit = {}, flowControl = all): Promise<string> {
  const { ask, invocations } = fixture({ flowControl });
  const [status, body] = await told(await ask("POST", path, init));
  expect([...invocations.calls, ...invocations.sends]).toEqual([]);
  return `${status} ${(body as { message: string }).message}`;
}

describe("a scoped path", () => {
  it.each([
    ["/svc/scope/s.1/call/Svc/opt", undefined],
    ["/svc/scope/s.1/send/Svc/opt", undefined],
    ["/svc/scope/s.1/call/Obj/k/set", "k"],
    ["/svc/scope/s.1/send/Obj/k/set", "k"],
    ["/restate/scope/s.1/call/Wf/k/run", "k"],
  ])("%s puts the scope into the target", async (path, key) => {
    const { target, limitKey } = await accepted(path);
    expect([target.scope, target.key, limitKey]).toEqual(["s.1", key, undefined]);
  });

  it("is decoded, so that it may be written with escapes", async () => {
    expect((await accepted("/svc/scope/%61/call/Svc/opt")).target.scope).toBe("a");
  });

  it("decides the partition and the identity of what it calls", async () => {
    const headers = { "idempotency-key": "k" };
    const ids = [];
    for (const path of ["/svc/scope/s", "/svc/scope/t", "/svc"]) {
      for (const one of ["Svc/opt", "Obj/k/set"]) {
        const { id } = await accepted(`${path}/call/${one}`, { headers });
        expect((await accepted(`${path}/call/${one}`, { headers })).id).toBe(id);
        ids.push(id);
      }
      ids.push((await accepted(`${path}/call/Wf/k/run`)).id);
    }
    expect(new Set(ids).size).toBe(9);
    const place = partitionOfObject({ key: "k", scope: "s" }, 64);
    expect(ids.slice(0, 3).map((id) => partitionOfId(id, 64))).toEqual([place, place, place]);
    const { id } = await accepted("/svc/scope/s/call/Svc/opt");
    expect(partitionOfId(id, 64)).toBe(place);
  });

  it("is refused for objects unless they are enabled, too", async () => {
    const refused = "400 scope is not supported for Virtual Object targets";
    expect(await refusal("/svc/scope/s/call/Obj/k/set", {}, services)).toBe(refused);
    expect(await refusal("/svc/scope/s/send/Obj/k/get", {}, services)).toBe(refused);
    expect((await accepted("/svc/scope/s/call/Wf/k/peek", {}, services)).target.scope).toBe("s");
  });

  it("is checked before what else is wrong with an object", async () => {
    expect(await refusal("/svc/scope/a%20b/call/Obj/k/set", {}, services)).toMatch(/bad scope/);
  });
});

describe("a limit key", () => {
  const at = "/svc/scope/s/call/Svc/opt";
  const header = (value: string) => ({ headers: { "x-svc-limit-key": value } });

  it.each([
    ["?limit-key=a", {}, "a"],
    ["?LIMIT-Key=a%2Fb&limit-key=c", {}, "a/b"],
    ["?limit-key=a/b/", {}, "a/b"],
    ["?limit-key=", {}, undefined],
    ["", header("a/"), "a"],
    ["?limit-key=b", header("a"), "a"],
    ["?limit-key=b", header(""), undefined],
    ["?limit-key=b", { headers: { "x-restate-limit-key": "a" } }, "a"],
  ])("of '%s' and %j is %s", async (query, init, wanted) => {
    expect((await accepted(at + query, init)).limitKey).toBe(wanted);
  });

  it("is no part of the identity", async () => {
    const headers = { "idempotency-key": "k" };
    const { id } = await accepted(`${at}?limit-key=a`, { headers });
    expect((await accepted(`${at}?limit-key=b`, { headers })).id).toBe(id);
  });

  it("is refused with a scope as without one", async () => {
    const tooMany =
      "400 invalid limit-key: too many path components in the given limit-key (max 2)";
    expect(await refusal(`${at}?limit-key=a/b/c`)).toBe(tooMany);
    expect(await refusal("/svc/call/Svc/opt?limit-key=a")).toBe(
      "400 limit-key requires a scope to be set",
    );
  });
});

describe("a priority", () => {
  const header = (value: string) => ({ headers: { "x-svc-priority": value } });

  it.each([
    ["/svc/call/Svc/opt", {}, undefined],
    ["/svc/call/Svc/opt?priority=0", {}, 0],
    ["/svc/send/Obj/k/set?Priority=9&priority=x", {}, 9],
    // The default is not stored.
    ["/svc/call/Svc/opt?priority=4", {}, undefined],
    ["/svc/call/Svc/opt?priority=8", header("2"), 2],
    ["/svc/call/Svc/opt", { headers: { "x-restate-priority": "7" } }, 7],
    ["/Svc/opt/send", header("1"), 1],
    ["/svc/scope/s/call/Wf/k/run", header("5"), 5],
  ])("of %s with %j is %s", async (path, init, wanted) => {
    expect((await accepted(path, init)).priority).toBe(wanted);
  });

  it("may be set while no feature is enabled", async () => {
    const { ask, invocations } = fixture();
    expect((await ask("POST", "/svc/call/Svc/opt?priority=9")).status).toBe(200);
    expect(invocations.calls[0]?.priority).toBe(9);
  });

  it.each(["10", "-1", "4.0", "", "high", "04"])("of '%s' is refused", async (value) => {
    const refused = `400 the priority '${value}' is invalid: expected an integer from 0, the ` +
      "lowest, to 9";
    expect(await refusal(`/svc/call/Svc/opt?priority=${value}`)).toBe(refused);
    expect(await refusal("/svc/send/Svc/opt", header(value))).toBe(refused);
  });

  it("is checked after the limit key and before the other headers", async () => {
    const bad = { headers: { "x-bad": "\xe9", "x-svc-priority": "10" } };
    expect(await refusal("/svc/call/Svc/opt?limit-key=a", bad)).toMatch(/requires a scope/);
    expect(await refusal("/svc/call/Svc/opt?delay=1s", bad)).toMatch(/priority/);
  });
});

test("the handler gets the headers of limit key and priority, as all others", async () => {
  const headers = { "x-svc-limit-key": "a", "x-svc-priority": "9" };
  const request = await accepted("/svc/scope/s/call/Svc/opt", { headers });
  expect(request.headers).toEqual([
    ["x-svc-ingress-path", "/svc/scope/s/call/Svc/opt"],
    ["x-svc-limit-key", "a"],
    ["x-svc-priority", "9"],
  ]);
});

test("a page may send the headers of limit key and priority", async () => {
  const asked = "x-svc-limit-key,x-svc-priority";
  const response = await fixture({ flowControl: all }).ask("OPTIONS", "/svc/scope/s/call/Svc/opt", {
    headers: { origin: "https://page.example", "access-control-request-headers": asked },
  });
  expect(response.headers.get("access-control-allow-headers")).toBe(asked);
});

test("a misspelled priority is warned about", async () => {
  const answer = await fixture().ask("POST", "/svc/call/Svc/opt?priorty=9");
  expect(answer.headers.get("x-svc-warning")).toBe(
    "unknown query parameter 'priorty', did you mean 'priority'?",
  );
});
