import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { freePorts, until } from "../support/child.ts";
import { call, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, Server } from "../support/server.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { TestFleet } from "./_fleet.ts";

vi.setConfig({ testTimeout: 90_000 });

const program = await sqldProgram();
const WITHIN_MS = 30_000;

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

interface Answer {
  readonly status: number;
  readonly body: {
    readonly ready: boolean;
    readonly causes?: { readonly partition?: number; readonly cause: string; since: string }[];
  };
}

async function ready(url: string): Promise<Answer> {
  const answer = await fetch(url);
  return { status: answer.status, body: await answer.json() as Answer["body"] };
}

async function health({ admin, ingress }: Server): Promise<number[]> {
  const answers = await Promise.all([fetch(`${admin}/health`), fetch(`${ingress}/svc/health`)]);
  return answers.map(({ status }) => status);
}

async function startOver(sqld: Sqld, runtime: RuntimeName): Promise<Server> {
  const settings = {
    STORAGE__DATABASE_URL: sqld.url,
    STORAGE__REQUEST_TIMEOUT: "1s",
    STORAGE__RETRY_TIMEOUT: "1s",
    DEFAULT_NUM_PARTITIONS: "2",
  };
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-"));
  const server = new Server({ runtime, settings }, await freePorts(2), folder);
  closing.push(() => server.close());
  await server.start();
  return server;
}

for (const runtime of ["node", "deno"] as const) {
  test.skipIf(!program)(
    `${runtime}: without its database a process lives, is not ready, and says why`,
    async () => {
      const sqld = await startSqld(program ?? "");
      closing.push(() => sqld.close());
      const server = await startOver(sqld, runtime);
      const endpoint: Endpoint = await startEndpoint("h2");
      closing.push(() => endpoint.close());
      await register(server, endpoint);
      for (const url of [`${server.admin}/ready`, `${server.ingress}/svc/ready`]) {
        expect(await ready(url)).toEqual({ status: 200, body: { ready: true } });
      }

      const goneAt = Date.now();
      await sqld.stop();
      for (const url of [`${server.admin}/ready`, `${server.ingress}/restate/ready`]) {
        const { status, body } = await ready(url);
        expect([status, body.ready]).toEqual([503, false]);
        expect(body.causes?.map(({ partition }) => partition).sort()).toEqual([0, 1]);
        for (const { cause, since } of body.causes ?? []) {
          expect(cause).toContain("the database");
          expect(Date.parse(since)).toBeGreaterThanOrEqual(goneAt);
          expect(JSON.stringify(body)).not.toContain(sqld.url);
        }
      }
      expect(await health(server)).toEqual([200, 200]);
      // The caller gets it, too, after the wait for the database.
      const { status, body } = await call(server, "Greeter/greet", "Ada");
      expect(status).toBe(503);
      expect(JSON.stringify(body)).toMatch(/the database .*since 20\d\d-/);
      expect(server.logs().split("The rows of a partition cannot be read").length).toBeGreaterThan(
        1,
      );

      await sqld.start();
      await until("the server to be ready again", async () => (
        (await ready(`${server.admin}/ready`)).status === 200
      ), WITHIN_MS);
      expect((await call(server, "Greeter/greet", "Ada")).status).toBe(200);
    },
  );
}

test.skipIf(!program)(
  "fleet: a process that loses the database is not ready, and callers are told why in time",
  async () => {
    const settings = { FLEET__FORWARD_TIMEOUT: "2s" };
    const fleet = await TestFleet.start({
      program: program ?? "",
      processes: 2,
      partitions: 4,
      settings,
    });
    closing.push(() => fleet.close());
    const endpoint = await startEndpoint("h2");
    closing.push(() => endpoint.close());
    await register(fleet, endpoint);
    await fleet.settled();
    const [cut, well] = [fleet.member(0), fleet.member(1)];
    cut.distance.isCut = true;
    await until("the lease to run out", async () => {
      const { status, body } = await ready(`${cut.server.admin}/ready`);
      return status === 503 && body.causes?.[0]?.cause.includes("cannot renew its leases") === true;
    }, WITHIN_MS);
    expect(await health(cut.server)).toEqual([200, 200]);
    const refused = await call(cut.server, "Greeter/greet", "Ada");
    const isTold = refused.status === 200 ||
      /cannot renew its leases: .*since 20\d\d-/.test(JSON.stringify(refused.body));
    expect(isTold, JSON.stringify(refused)).toBe(true);
    await until("the other one to have it all", async () => {
      const owners = await fleet.owners();
      return owners.every((owner) => owner === well.peers);
    }, WITHIN_MS);
    expect((await ready(`${well.server.ingress}/svc/ready`)).status).toBe(200);

    cut.distance.isCut = false;
    cut.distance.reset();
    await until("it to be ready again", async () => (
      (await ready(`${cut.server.admin}/ready`)).status === 200
    ), WITHIN_MS);
  },
);
