import { copyFileSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import { connect } from "node:net";
import path from "node:path";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Authority, type Issued } from "../support/certificates.ts";
import { type Child, until } from "../support/child.ts";
import { askSecurely } from "../support/secure_client.ts";
import { closeAll, COMMANDS, newFolder, ready, startProcess } from "./_process.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let authority: Authority, own: Issued, other: Issued;
beforeAll(() => {
  authority = new Authority("the authority of a test");
  own = authority.issue("first");
  other = authority.issue("second");
});
afterAll(() => authority.close());
afterEach(closeAll);

const settingsOf = ({ certFile, keyFile }: Issued) => ({
  TLS__CERT_FILE: certFile,
  TLS__KEY_FILE: keyFile,
});

/** Connects, sends bytes, and resolves once the server has closed the connection. */
function closedAfter(url: string, bytes: Uint8Array | undefined): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    if (bytes) socket.write(bytes);
    socket.resume().on("error", () => {}).once("close", () => resolve());
  });
}

const saysSoon = (child: Child, text: string) =>
  until(`the log to say "${text}": ${child.output()}`, () => child.output().includes(text));

describe.each(Object.entries(COMMANDS))("TLS of the ports on %s", (runtime, command) => {
  test("both versions of HTTP are served, and addresses say https", async () => {
    const child = startProcess(command(), settingsOf(own));
    const { ingress, admin } = await ready(child);
    expect(ingress).toMatch(/^https:/);
    expect(admin).toMatch(/^https:/);
    const { ca } = authority;
    for (const version of ["h1", "h2"] as const) {
      expect(await askSecurely(`${ingress}/svc/health`, { ca, version })).toMatchObject({
        status: 200,
        shown: "first",
      });
      const answer = await askSecurely(`${admin}/version`, { ca, version });
      expect(JSON.parse(answer.body).ingress_endpoint).toMatch(/^https:\/\/127\.0\.0\.1:/);
    }
    await expect(askSecurely(`${admin}/health`, {})).rejects.toThrow(/issuer|unable|signature/i);
    expect(await child.stop("SIGTERM")).toBe(0);
  });

  test("versions before 1.2 are refused, and each refusal is a line in the log", async () => {
    const child = startProcess(command(), settingsOf(own));
    const { admin } = await ready(child);
    const old = tls.connect({
      port: Number(new URL(admin).port),
      host: "127.0.0.1",
      ca: authority.ca,
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    await new Promise<void>((resolve, reject) => {
      old.once("error", () => resolve()).once("secureConnect", () => reject(new Error("agreed")));
    });
    await saysSoon(child, "A client did not agree on TLS");
    await closedAfter(admin, new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
    await saysSoon(child, "A client speaks no TLS to a port of TLS");
    expect(child.output()).not.toMatch(/^ +at /m);
  });

  test("a client that does not shake hands in time is closed", async () => {
    const settings = { ...settingsOf(own), TLS__HANDSHAKE_TIMEOUT: "300ms" };
    const { ingress } = await ready(startProcess(command(), settings));
    await closedAfter(ingress, undefined);
    await closedAfter(ingress, new Uint8Array([0x16, 3, 1]));
  });

  test("one interface alone speaks TLS", async () => {
    const child = startProcess(command(), { ...settingsOf(own), TLS__INTERFACES: "ingress" });
    const { ingress, admin } = await ready(child);
    expect((await askSecurely(`${ingress}/svc/health`, { ca: authority.ca })).status).toBe(200);
    expect((await fetch(`${admin}/health`)).status).toBe(200);
    await closedAfter(admin, new Uint8Array([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]));
    if (runtime === "node") await saysSoon(child, "A client speaks TLS to a port without it");
  });

  test("other certificates count for new connections, and open ones stay", async () => {
    const folder = newFolder();
    const [certFile, keyFile] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
    const put = ({ certFile: cert, keyFile: key }: Issued) => {
      copyFileSync(cert, certFile);
      copyFileSync(key, keyFile);
    };
    put(own);
    const child = startProcess(command(), { TLS__CERT_FILE: certFile, TLS__KEY_FILE: keyFile });
    const { ingress, admin } = await ready(child);
    const { ca } = authority;
    const session = http2.connect(ingress, { ca });
    session.on("error", () => {});
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ":path": "/svc/health" });
        stream.on("response", (head) => resolve(head[":status"] ?? 0)).on("error", reject).resume();
      });
    expect(await ask()).toBe(200);
    // The key is missing for a moment: nothing changes.
    copyFileSync(other.certFile, certFile);
    await saysSoon(child, "the old ones stay in use");
    expect((await askSecurely(`${admin}/health`, { ca })).shown).toBe("first");
    put(other);
    await saysSoon(child, "The certificates of TLS were read again");
    expect((await askSecurely(`${admin}/health`, { ca })).shown).toBe("second");
    expect((await askSecurely(`${ingress}/svc/health`, { ca, version: "h2" })).shown).toBe(
      "second",
    );
    expect(await ask()).toBe(200);
    session.destroy();
  });

  test("an expired certificate is served, and warned of", async () => {
    const child = startProcess(command(), settingsOf(authority.issue("old", { days: -1 })));
    const { admin } = await ready(child);
    expect(child.output()).toContain("The certificate of TLS is not valid now");
    await expect(askSecurely(`${admin}/health`, { ca: authority.ca })).rejects.toThrow(/expired/);
  });

  test("files that cannot be used end the start with what is wrong", async () => {
    const noPem = path.join(newFolder(), "no.pem");
    writeFileSync(noPem, "nothing");
    const missing = path.join(newFolder(), "missing.pem");
    const cases: [Record<string, string>, RegExp][] = [
      [{ TLS__CERT_FILE: own.certFile }, /"tls.cert-file" and "tls.key-file" are set together/],
      [settingsOf({ ...own, certFile: missing }), /"tls.cert-file", the file ".+": ENOENT/],
      [settingsOf({ ...own, keyFile: other.keyFile }), /the key does not fit the certificate/],
      [settingsOf({ ...own, certFile: noPem }), /there is no certificate in PEM/],
      [settingsOf({ ...own, keyFile: noPem }), /there is no private key in PEM/],
    ];
    for (const [settings, message] of cases) {
      const child = startProcess(command(), settings);
      expect(await child.ended()).toBe(1);
      expect(child.output()).toMatch(message);
      expect(child.output()).toContain("RT0002");
      expect(child.output()).not.toContain("BEGIN");
    }
  });
});
