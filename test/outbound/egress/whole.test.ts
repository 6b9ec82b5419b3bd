import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { freePorts, until } from "../../support/child.ts";
import { call, query, register } from "../../support/client.ts";
import { type Endpoint, startEndpoint, type Transport } from "../../support/endpoint.ts";
import { type RuntimeName, Server } from "../../support/server.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Processes on one folder and two ports, which are started with settings. One runs at a time. */
async function installation(runtime: RuntimeName) {
  const [folder, ports] = [mkdtempSync(path.join(tmpdir(), "perdure-")), await freePorts(2)];
  return async (settings: Record<string, string> = {}): Promise<Server> => {
    const server = new Server({ runtime, settings }, ports, folder);
    cleanups.push(() => server.close());
    await server.start();
    return server;
  };
}

async function serve(transport: Transport): Promise<Endpoint> {
  const endpoint = await startEndpoint(transport);
  cleanups.push(() => endpoint.close());
  return endpoint;
}

describe.each([["node", "h2"], ["node", "h1"], ["deno", "h2"], ["deno", "h1"]] as const)(
  "a server on %s and endpoints over %s",
  (runtime, transport) => {
    test("attempts fail while the address of their deployment is refused, and then go on", async () => {
      const [start, endpoint] = [await installation(runtime), await serve(transport)];
      const first = await start();
      expect((await register(first, endpoint)).status).toBe(201);
      await first.stop();
      const denying = await start({ OUTBOUND__DENY: '["127.0.0.0/8"]' });
      expect((await register(denying, endpoint, { force: true })).body)
        .toMatchObject({ svc_code: "META0018" });
      const waiting = call(denying, "Greeter/greet", "you").catch(() => undefined);
      const sql = "SELECT retry_count, last_failure, last_failure_error_code FROM sys_invocation";
      let failed: Record<string, unknown> | undefined;
      await until("a failed attempt", async () => {
        [failed] = await query(denying, sql);
        return Number(failed?.["retry_count"]) > 1;
      });
      expect(failed).toMatchObject({
        last_failure: expect.stringMatching(
          /^\[500 Internal\] cannot call 'http:.*': 127\.0\.0\.1 is refused: entry "127\.0\.0\.0\/8" of outbound\.deny; an entry "127\.0\.0\.1" of outbound\.allow permits it$/,
        ),
        last_failure_error_code: "RT0033",
      });
      await denying.stop();
      await waiting;
      const allowing = await start({
        OUTBOUND__DENY: '["*"]',
        OUTBOUND__ALLOW: JSON.stringify([new URL(endpoint.url).host]),
      });
      await until("the invocation to end", async () => {
        const [row] = await query(allowing, "SELECT status FROM sys_invocation");
        return row?.["status"] === "completed";
      });
      expect((await call(allowing, "Greeter/greet", "me")).status).toBe(200);
    });

    test("refuses what leads to its own ports and to metadata, and says what permits it", async () => {
      const server = await (await installation(runtime))();
      const ports = [server.ingress, server.admin].map((url) => new URL(url).port);
      const own = ports.flatMap((port) =>
        ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "2130706433", "[::ffff:7f00:1]"]
          .map((host) => `http://${host}:${port}`)
      );
      const others = ["http://169.254.169.254/", "http://metadata.google.internal/"];
      for (const url of [...own, ...others]) {
        const { status, body } = await register(server, { url, transport });
        expect({ url, status, body }).toMatchObject({
          url,
          status: 400,
          body: {
            svc_code: "META0018",
            message: expect.stringMatching(
              /^\[META0018\] cannot call 'http:.*': .* is refused: .* of outbound\.allow permits it$/,
            ),
          },
        });
      }
    });
  },
);
