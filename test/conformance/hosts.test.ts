import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, startServer } from "../support/server.ts";

/** The status of `GET path` with this header, and the body. */
function ask(url: string, path: string, host: string): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("data", (chunk) => text += chunk.toString("latin1")).on("error", reject);
    socket.on("close", () => {
      const [, status = "0"] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
      resolve([Number(status), text.slice(text.indexOf("\r\n\r\n") + 4)]);
    });
    const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    socket.write(Buffer.from(head, "latin1"));
  });
}

describe.each(["node", "deno"] as const)("the header host on %s", (runtime) => {
  let server: Server;
  beforeAll(async () => void (server = await startServer({ runtime })), 60_000);
  afterAll(async () => await server?.close());

  test.each(["localhost", "LOCALHOST:9070", "127.0.0.1:1", "[::1]:9070", "a_b-c", ""])(
    "%j is one",
    async (host) => {
      expect((await ask(server.admin, "/health", host))[0]).toBe(200);
      expect((await ask(server.ingress, "/svc/health", host))[0]).toBe(200);
    },
  );

  test.each(["a b", "[", "a:x", "a:99999999", "%", "a<b", "a^b", "aï", "[::1", "a]b", "a|b"])(
    "%j is none, and no fault of ours",
    async (host) => {
      for (const [url, path] of [[server.admin, "/nothing"], [server.ingress, "/svc/health"]]) {
        const [status] = await ask(url!, path!, host);
        expect([200, 400, 403, 404]).toContain(status);
      }
      expect(server.said()).not.toContain(`"level":"error"`);
    },
  );

  test.each(["a/health?", "127.0.0.1/health#", "a\\health?", "u@127.0.0.1/health?", "a?", "a#"])(
    "%j names no other path",
    async (host) => {
      const [status, text] = await ask(server.admin, "/nothing", host);
      expect([400, 403, 404]).toContain(status);
      expect(text).not.toContain("/health");
      expect(await ask(server.ingress, "/svc/nothing", `a/svc/health?`)).not.toContain(200);
    },
  );
});
