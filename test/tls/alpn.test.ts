import http2 from "node:http2";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Authority, type Issued } from "../support/certificates.ts";
import { closeAll, COMMANDS, ready, startProcess } from "./_process.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let authority: Authority, own: Issued;
beforeAll(() => {
  authority = new Authority("the authority of a test");
  own = authority.issue("server");
});
afterAll(() => authority.close());
afterEach(closeAll);

/** A connection that offers some protocols, as far as TLS: what is agreed on is `alpnProtocol`. */
function offer(url: string, ALPNProtocols: readonly string[] | undefined): Promise<tls.TLSSocket> {
  const { hostname: host, port } = new URL(url);
  const asked = { host, port: Number(port), ca: authority.ca };
  const socket = tls.connect({
    ...asked,
    ...(ALPNProtocols && { ALPNProtocols: [...ALPNProtocols] }),
  });
  // Never removed: a connection may be reset after its answer.
  return new Promise((resolve, reject) =>
    socket.once("secureConnect", () => resolve(socket)).on("error", reject)
  );
}

/** Asks for a page over the protocol that was agreed on. */
async function ask(socket: tls.TLSSocket, path: string): Promise<string> {
  if (socket.alpnProtocol === "h2") {
    const session = http2.connect("https://127.0.0.1", { createConnection: () => socket });
    const stream = session.request({ ":path": path });
    const status = await new Promise<number | undefined>((resolve, reject) =>
      stream.on("response", (head) => resolve(head[":status"])).on("error", reject).resume()
    );
    session.destroy();
    return `HTTP/2 ${status}`;
  }
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk) => text += chunk);
  await new Promise((resolve) => socket.once("close", resolve));
  return text.split("\r\n")[0]!;
}

describe.each(Object.entries(COMMANDS))("a client on %s that offers", (_, command) => {
  test("protocols by ALPN gets the best of them, which is then spoken, on both ports", async () => {
    const child = startProcess(command(), {
      TLS__CERT_FILE: own.certFile,
      TLS__KEY_FILE: own.keyFile,
    });
    const { ingress, admin } = await ready(child);
    for (const [url, path] of [[ingress, "/svc/health"], [admin, "/health"]] as const) {
      for (const both of [["h2", "http/1.1"], ["http/1.1", "h2"]]) {
        const socket = await offer(url, both);
        expect(socket.alpnProtocol, both.join()).toBe("h2");
        expect(await ask(socket, path)).toBe("HTTP/2 200");
      }
      const old = await offer(url, ["http/1.1"]);
      expect([old.alpnProtocol, await ask(old, path)]).toEqual(["http/1.1", "HTTP/1.1 200 OK"]);
      const silent = await offer(url, undefined);
      expect([silent.alpnProtocol, await ask(silent, path)]).toEqual([false, "HTTP/1.1 200 OK"]);
      await expect(offer(url, ["spdy/3"])).rejects.toThrow(/alert|disconnected|ECONNRESET/i);
    }
  });
});
