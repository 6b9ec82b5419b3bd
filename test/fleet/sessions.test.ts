import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sqldProgram } from "../support/sqld.ts";
import { cookieOf } from "../support/sessions.ts";
import { TestFleet } from "./_fleet.ts";

vi.setConfig({ testTimeout: 60_000 });
const program = await sqldProgram();

describe.skipIf(!program)("in a fleet of Node and Deno", () => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await TestFleet.start({
      program: program ?? "",
      processes: 2,
      partitions: 2,
      runtimes: ["node", "deno"],
      settings: { ADMIN__TOKEN: "token-of-admin" },
    });
  }, 60_000);
  afterAll(() => fleet?.close());

  const signIn = async (n: number) => {
    const { admin } = fleet.member(n).server;
    const response = await fetch(`${admin}/internal/ui/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: admin },
      body: JSON.stringify({ token: "token-of-admin" }),
    });
    expect(response.status, await response.text()).toBe(200);
    return cookieOf(response);
  };
  const read = async (n: number, cookie: string) =>
    (await fetch(`${fleet.member(n).server.admin}/version`, { headers: { cookie } })).status;

  test("a session of one process counts for the other, whichever was asked first", async () => {
    const [first, second] = await Promise.all([signIn(0), signIn(1)]);
    for (const n of [0, 1]) {
      expect([await read(n, first), await read(n, second)]).toEqual([200, 200]);
    }
    await fleet.member(1).server.crash();
    expect([await read(1, first), await read(1, second)]).toEqual([200, 200]);
  });
});
