import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { call, query, register, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import { type Endpoint, startEndpoint, type Transport, TRANSPORTS } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { callOnce, operate, sendOnce, untilAnswered } from "./_retry.ts";
import { Notes } from "./_notes.ts";
import { watch } from "./_watch.ts";

const runtime: RuntimeName = process.env["CRASH_RUNTIME"] === "deno" ? "deno" : "node";
const SERVICES = path.join(import.meta.dirname, "services_big.mjs");
const MIB = 1024 * 1024;
const TEST_MS = 60_000;

let server: Server, endpoint: Endpoint, others: Endpoint, notes: Notes;

async function start(transport: Transport): Promise<void> {
  [server, endpoint, others] = await Promise.all([
    startServer({ runtime }),
    startEndpoint(transport, SERVICES),
    startEndpoint("h2"),
  ]);
  notes = new Notes(path.join(endpoint.folder, "log"));
  for (const one of [endpoint, others]) expect((await register(server, one)).status).toBe(201);
}

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`${task.name}\n${server?.logs().slice(-3000)}`);
  await Promise.all([server?.close(), endpoint?.close(), others?.close()]);
});

/** Does it, says what it took, and holds it to its bounds: nobody else waits, and memory is kept. */
async function bounded(
  name: string,
  { rssMiBMax, waitedMsMax = 5_000 }: { rssMiBMax: number; waitedMsMax?: number },
  work: () => Promise<void>,
): Promise<void> {
  const watched = await watch(server, work);
  console.log(`${runtime} ${endpoint.transport} ${name}`, JSON.stringify(watched));
  expect(watched.rssMiB, "MiB of memory").toBeLessThan(rssMiBMax);
  expect(watched.waitedMs, "ms another waited").toBeLessThan(waitedMsMax);
}

function bodyOf(bytes: number): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(bytes);
  for (let i = 0; i < body.length; i++) body[i] = i * 7 ^ i >>> 11;
  return body;
}

function post(kind: "call" | "send", handler: string, body: Uint8Array<ArrayBuffer>) {
  const headers = { "content-type": "application/octet-stream" };
  return fetch(`${server.ingress}/svc/${kind}/Big/${handler}`, { method: "POST", headers, body });
}

/** What an invocation is paused for. Undefined: it is not paused. */
async function whyPaused(id: string): Promise<string | undefined> {
  const sql = `select event_json from sys_journal_events
    join sys_invocation on sys_invocation.id = sys_journal_events.id
    where sys_invocation.id = '${id}' and status = 'paused' and event_type = 'Paused'
    order by appended_at desc limit 1`;
  const [row] = await query(server, sql);
  return row && JSON.parse(String(row["event_json"])).last_failure.svc_doc_error_code;
}

describe.each(TRANSPORTS)("endpoint over %s", (transport) => {
  beforeEach(() => start(transport));

  test("bodies of 32 MiB: called with and echoed, and sent", async () => {
    const body = bodyOf(32 * MIB - 1024);
    await bounded("32 MiB bodies", { rssMiBMax: 1500 }, async () => {
      const answer = await post("call", "echo", body);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect(answer.status, new TextDecoder().decode(bytes.subarray(0, 300))).toBe(200);
      expect(Buffer.compare(bytes, body)).toBe(0);
      expect((await post("send", "measure", body)).status).toBe(202);
      await endpoint.happens(`measured ${body.length} ${body.at(-1)}`);
    });
  }, TEST_MS);

  test("bodies of 30 MiB from handler to handler", async () => {
    const body = bodyOf(30 * MIB);
    await bounded("30 MiB between handlers", { rssMiBMax: 1500 }, async () => {
      const answer = await post("call", "pass", body);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect(answer.status, new TextDecoder().decode(bytes.subarray(0, 300))).toBe(200);
      expect(Buffer.compare(bytes, body)).toBe(0);
    });
  }, TEST_MS);

  test("1,000 calls at once from one handler", async () => {
    await bounded("1,000 calls", { rssMiBMax: 600 }, async () => {
      expect(await value(server, "Big/fan", 1000)).toBe(499_500);
    });
  }, TEST_MS);

  test("1,000 awakeables in one await, with a crash in between", async () => {
    await bounded("1,000 awakeables", { rssMiBMax: 600 }, async () => {
      await sendOnce(server, "Big/awakeables", { key: "a", body: { id: "a", count: 1000 } });
      const ids = (await notes.value("a", "ids")).split(",");
      expect(ids).toHaveLength(1000);
      const resolve = (id: string, body: number) =>
        untilAnswered(`${server.ingress}/svc/awakeables/${id}/resolve`, { body });
      await Promise.all(ids.slice(0, 500).map(resolve));
      await server.crash();
      await Promise.all(ids.slice(500).map((id, i) => resolve(id, i + 500)));
      const { body } = await callOnce(server, "Big/awakeables", { key: "a", body: {} });
      expect(body).toBe(499_500);
    });
  }, TEST_MS);
});

/** How state is sent does not depend on the transport. */
describe("much state, over h2", () => {
  beforeEach(() => start("h2"));

  // 40 MiB are more than goes along with an attempt: the rest is asked for.
  test.each(
    [
      ["Eager", 10_000, 100, 800],
      ["Deferred", 10_000, 100, 800],
      ["Eager", 2_500, 16_384, 1500],
    ] as const,
  )("%s state of %i keys of %i bytes", async (service, count, bytes, rssMiBMax) => {
    await bounded(`${service} state of ${count} × ${bytes}`, { rssMiBMax }, async () => {
      const path = `${service}/k`;
      expect(await value(server, `${path}/fill`, { count, bytes })).toBe(count);
      expect(await value(server, `${path}/list`)).toBe(count);
      await server.crash();
      expect(await value(server, `${path}/sample`, count)).toBe(count / 100 * bytes);
      expect((await call(server, `${path}/clear`)).status).toBe(200);
      expect(await value(server, `${path}/list`)).toBe(0);
    });
  }, TEST_MS);
});

describe("too big", () => {
  test("an answer larger than a message may be: paused, said why, and can be killed", async () => {
    await start("h2");
    await bounded("too large an answer", { rssMiBMax: 600 }, async () => {
      const ask = { key: "f", body: 33 };
      const id = await sendOnce(server, "Bloated/inflate", ask);
      const pauses = () => until("it to be paused", async () => await whyPaused(id) === "RT0003");
      await pauses();
      expect(await operate(server, id, "resume?deployment=latest")).toBe(200);
      await pauses();
      await server.stop("SIGTERM");
      await server.start();
      expect(await whyPaused(id)).toBe("RT0003");
      expect(await operate(server, id, "kill")).toBe(200);
      expect(await callOnce(server, "Bloated/inflate", ask)).toMatchObject({ status: 409 });
    });
  }, TEST_MS);
});

describe("a long journal", () => {
  const steps = async (transport: Transport, count: number) => {
    await start(transport);
    await bounded(`${count} steps`, { rssMiBMax: 800 }, async () => {
      const ask = { key: "s", body: { id: "s", count } };
      await sendOnce(server, "Big/steps", ask);
      await until("half of it", () => notes.of("s").length >= count / 2, TEST_MS);
      await server.crash();
      const { status, body } = await callOnce(server, "Big/steps", ask);
      expect([status, body]).toEqual([200, count * (count - 1) / 2]);
    });
    const order = notes.of("s").map((one) => Number(one.value));
    expect(new Set(order).size).toBe(count);
    // Of those that were under way in a crash one may have been repeated.
    expect(order.length - count).toBeLessThanOrEqual(1);
  };

  test("of 160 MiB, with a crash in the middle", async () => {
    await start("h2");
    await bounded("160 MiB of journal", { rssMiBMax: 1500 }, async () => {
      const ask = { key: "m", body: { id: "m", count: 20, mib: 8 } };
      await sendOnce(server, "Big/heavy", ask);
      await until("half of it", () => notes.of("m").length >= 10, TEST_MS);
      await server.crash();
      const { body } = await callOnce(server, "Big/heavy", ask);
      expect(body).toBe(160 * MIB);
    });
  }, TEST_MS);

  test(
    "of 10,000 steps over one stream, with a crash in the middle",
    () => steps("h2", 10_000),
    // 20,000 commits, one after the other: on a slow disk beside other tests they have taken 60 s.
    2 * TEST_MS,
  );
  // Each step is an attempt that replays all before it.
  test("of 500 steps in as many requests", () => steps("h1", 500), TEST_MS);
});
