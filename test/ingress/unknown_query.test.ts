import { expect, test } from "vitest";
import { fixture, told } from "./_fixture.ts";

const said = "unknown query parameter 'delayy', did you mean 'delay'?";

test("a parameter that is nearly one of ours is warned about, and the call is made", async () => {
  const { ask, invocations, logged } = fixture();
  const answer = await ask("POST", "/svc/send/Svc/opt?delayy=10s");
  expect(answer.status).toBe(202);
  expect(answer.headers.get("x-svc-warning")).toBe(said);
  expect(invocations.sends).toHaveLength(1);
  expect(logged).toEqual(["warn A query parameter of a call is unknown and ignored"]);
  const alias = await ask("POST", "/restate/call/Svc/opt?limit_key=a");
  expect(alias.headers.get("x-restate-warning")).toContain("did you mean 'limit-key'?");
});

test.each(["", "?delay=1s", "?DELAY=1s", "?page=2&customer=ada", "?"])(
  "nothing is said of the query '%s'",
  async (query) => {
    const { ask, logged } = fixture();
    const answer = await ask("POST", `/svc/send/Svc/opt${query}`);
    expect(answer.status).toBe(202);
    expect([...answer.headers.keys()].filter((name) => name.endsWith("warning"))).toEqual([]);
    expect(logged).toEqual([]);
  },
);

test("a strict server refuses every parameter that is not read", async () => {
  const { ask, invocations } = fixture({ isStrict: true });
  const asked = async (path: string) => await told(await ask("POST", path));
  expect(await asked("/svc/send/Svc/opt?delayy=10s")).toEqual([
    400,
    { code: 400, message: said, source: "ingress" },
  ]);
  expect(await asked("/svc/call/Svc/opt?page=2")).toMatchObject([400, {
    message: "unknown query parameter 'page'",
  }]);
  expect((await ask("GET", "/svc/health?page=2")).status).toBe(400);
  expect(invocations.calls).toEqual([]);
  expect((await ask("POST", "/svc/send/Svc/opt?Delay=10s")).status).toBe(202);
});
