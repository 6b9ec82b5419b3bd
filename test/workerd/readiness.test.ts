import { afterEach, expect, test, vi } from "vitest";
import { until } from "../support/child.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { startWorkerd } from "./_server.ts";

vi.setConfig({ testTimeout: 90_000 });

const program = await sqldProgram();

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function ready(url: string): Promise<readonly [status: number, text: string]> {
  const answer = await fetch(url);
  return [answer.status, await answer.text()];
}

test("an object whose rows are its own is ready, for callers and for operators", async () => {
  const server = await startWorkerd();
  closing.push(() => server.close());
  for (const url of [`${server.admin}/ready`, `${server.ingress}/svc/ready`]) {
    expect(await ready(url)).toEqual([200, '{"ready":true}']);
  }
});

test.skipIf(!program)(
  "an object whose rows are in a server is not ready without it, and healthy all the same",
  async () => {
    const sqld = await startSqld(program ?? "");
    closing.push(() => sqld.close());
    const settings = { STORAGE__DATABASE_URL: sqld.url, STORAGE__RETRY_TIMEOUT: "1s" };
    const server = await startWorkerd({ settings });
    closing.push(() => server.close());
    expect((await ready(`${server.ingress}/svc/ready`))[0]).toBe(200);
    await sqld.stop();
    const [status, text] = await ready(`${server.ingress}/svc/ready`);
    expect([status, text]).toEqual([503, expect.stringContaining("the database")]);
    expect((await ready(`${server.admin}/ready`))[0]).toBe(503);
    expect((await fetch(`${server.admin}/health`)).status).toBe(200);
    await sqld.start();
    await until("the object to be ready again", async () => (
      (await ready(`${server.admin}/ready`))[0] === 200
    ), 30_000);
  },
);
