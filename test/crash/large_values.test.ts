import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { databasesIn, mustRun } from "../growth/_tool.ts";

const runtime: RuntimeName = process.env["CRASH_RUNTIME"] === "deno" ? "deno" : "node";
const SERVICES = path.join(import.meta.dirname, "services_big.mjs");
const MIB = 1024 * 1024;
const CRASHES = 6;

let server: Server, endpoint: Endpoint;
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`${task.name}\n${server?.logs().slice(-3000)}`);
  await Promise.all([server?.close(), endpoint?.close()]);
});

function bodyOf(bytes: number, seed: number): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(bytes);
  for (let i = 0; i < body.length; i++) body[i] = i * 7 + seed ^ i >>> 11;
  return body;
}

/** Calls until it is answered, always with the same key. Answers the bytes. */
async function echoed(body: Uint8Array<ArrayBuffer>, key: string): Promise<Uint8Array> {
  const headers = { "content-type": "application/octet-stream", "idempotency-key": key };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${server.ingress}/svc/call/Big/pass`, {
      method: "POST",
      headers,
      body,
    }).then(async (response) => response.ok && new Uint8Array(await response.arrayBuffer()))
      .catch(() => false as const);
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`Gave up on ${key}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(
  "large values survive crashes at any moment, and none is left that no row refers to",
  async () => {
    [server, endpoint] = await Promise.all([
      startServer({ runtime }),
      startEndpoint("h2", SERVICES),
    ]);
    expect((await register(server, endpoint)).status).toBe(201);
    const bodies = Array.from({ length: 8 }, (_, i) => bodyOf((i + 1) * MIB + i * 999, i));
    const answers = Promise.all(bodies.map((body, i) => echoed(body, `large-${i}`)));
    for (let i = 0; i < CRASHES; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
      await server.crash();
    }
    for (const [i, bytes] of (await answers).entries()) {
      expect(Buffer.compare(bytes, bodies[i]!), `body ${i}`).toBe(0);
    }
    // Asked again, they come out of the tables.
    await server.crash();
    for (const [i, body] of bodies.entries()) {
      expect(Buffer.compare(await echoed(body, `large-${i}`), body), `body ${i} again`).toBe(0);
    }
    await server.stop("SIGTERM");
    await server.start();
    await server.stop("SIGTERM");
    await mustRun(["verify", "--base-dir", server.folder]);
    const { clients } = await databasesIn(server.folder);
    for (const client of clients) {
      const referred = ["invocation", "journal", "state", "promise", "outbox"]
        .map((table) => `select large ->> 0 from ${table} where large is not null`).join(" union ");
      const sql = `select count(*) as orphans from large_piece where id not in (${referred})`;
      const [[row] = []] = await client.batch("read", [{ sql, args: [] }]);
      expect(row).toEqual({ orphans: 0 });
      await client.close();
    }
  },
  180_000,
);
