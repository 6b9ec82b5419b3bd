import { describe, expect, test } from "vitest";
import { discovered, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const nowhere = "/deployments/dp_16lq9KEFemrppKnYdVPzpTj";

async function withEndpoint(isStrict = false) {
  const all = await setup(undefined, { isStrict });
  all.endpoints.set(uri, discovered([service("A")]));
  return all;
}

describe("a name that nothing reads", () => {
  test("is ignored, and the caller and the log get the name that was probably meant", async () => {
    const { register, patch, logged } = await withEndpoint();
    const registered = await register({ uri, forse: true });
    expect(registered.status).toBe(201);
    const said = "unknown field 'forse', did you mean 'force'?";
    expect(registered.headers.get("x-svc-warning")).toBe(said);
    expect(registered.headers.get("x-restate-warning")).toBe(said);
    const changed = await patch("/services/A", { inactivity_timout: "1s", public: true });
    expect(changed.headers.get("x-svc-warning")).toContain("did you mean 'inactivity_timeout'?");
    expect(logged).toMatchObject([
      { level: "warn", fields: { warning: said } },
      { level: "warn", fields: { warning: expect.stringContaining("inactivity_timout") } },
    ]);
  });

  test("in the query is reported as well, with a refusal too, in the caller's spelling", async () => {
    const { send } = await withEndpoint();
    const headers = { "user-agent": "restate-cli" };
    const answer = await send("DELETE", `${nowhere}?forcee=true&page=2`, { headers });
    expect(answer.status).toBe(404);
    expect(answer.headers.get("x-restate-warning")).toBe(
      "unknown query parameter 'forcee', did you mean 'force'?; unknown query parameter 'page'",
    );
    expect(answer.headers.has("x-svc-warning")).toBe(false);
    expect((await send("GET", "/services?page=2")).headers.get("x-svc-warning"))
      .toBe("unknown query parameter 'page'");
  });

  test("is printed cut and in ASCII, and of many names only some are", async () => {
    const { register, get } = await withEndpoint();
    const names = Array.from(
      { length: 1000 },
      (_, at) => [`${at}\r\n\u{1f600}"${"x".repeat(200)}`, 1],
    );
    const { status, headers } = await register({ uri, ...Object.fromEntries(names) });
    expect(status).toBe(201);
    const told = headers.get("x-svc-warning") ?? "";
    expect(told).toMatch(/^[\x20-\x7e]+$/);
    expect(told.length).toBeLessThan(1500);
    expect((await get(`/services?${"y".repeat(5000)}`)).headers.get("x-svc-warning")?.length)
      .toBeLessThan(200);
  });

  test("is refused where the server is strict, and nothing is done", async () => {
    const { register, patch, get, send, asked } = await withEndpoint(true);
    expect(await register({ uri, forse: true })).toMatchObject({
      status: 400,
      json: refusal(
        null,
        "Cannot accept the request: unknown field 'forse', did you mean 'force'?",
      ),
    });
    expect(asked).toEqual([]);
    expect((await register({ uri, force: true, metadata: { any: "thing" } })).status).toBe(201);
    expect((await patch("/services/A", { publik: false })).status).toBe(400);
    expect((await get("/services/A")).json.public).toBe(true);
    expect((await send("DELETE", `${nowhere}?forcee=true`)).status).toBe(400);
    expect((await send("DELETE", `${nowhere}?force=true`)).status).toBe(404);
  });
});

test("names that are read are not warned about", async () => {
  const { register, patch, post, send, logged } = await withEndpoint();
  await register({ uri, use_http_11: false, additional_headers: { a: "b" }, breaking: false });
  await patch("/services/A", { public: null, journal_retention: "1d" });
  await post("/internal/invocations_batch_operations/kill", { invocation_ids: [] });
  await send("DELETE", `${nowhere}?force=true`);
  expect(logged).toEqual([]);
});
