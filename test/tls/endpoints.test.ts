import { copyFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Authority, type Issued } from "../support/certificates.ts";
import { until } from "../support/child.ts";
import { type Endpoint, type EndpointTls, startEndpoint } from "../support/endpoint.ts";
import { closeAll, COMMANDS, newFolder, ready, startProcess } from "./_process.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let authority: Authority, clients: Authority, own: Issued, client: Issued;
beforeAll(() => {
  authority = new Authority("the authority of endpoints");
  clients = new Authority("the authority of clients");
  own = authority.issue("endpoint");
  client = clients.issue("server");
});
afterAll(() => [authority, clients].forEach((one) => one.close()));
const endpoints: Endpoint[] = [];
afterEach(async () => {
  await closeAll();
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
});

async function endpointOf(transport: "h1" | "h2", tls: EndpointTls): Promise<Endpoint> {
  const endpoint = await startEndpoint(transport, undefined, tls);
  endpoints.push(endpoint);
  return endpoint;
}

const json = { "content-type": "application/json" };

async function register(admin: string, uri: string, version: "h1" | "h2" = "h2") {
  const body = JSON.stringify({ uri, use_http_11: version === "h1", force: true });
  const answer = await fetch(`${admin}/deployments`, { method: "POST", headers: json, body });
  return { status: answer.status, text: await answer.text() };
}

const greet = async (ingress: string) => {
  const init = { method: "POST", headers: json, body: '"Ada"' };
  return (await fetch(`${ingress}/svc/call/Greeter/greet`, init)).status;
};

const mutual = (): EndpointTls => ({ ...own, ca: clients.ca, requestCert: true });

describe.each(Object.entries(COMMANDS))("endpoints over TLS on %s", (_, command) => {
  test.each(["h2", "h1"] as const)("are trusted by their own authority, %s", async (version) => {
    const endpoint = await endpointOf(version, mutual());
    const child = startProcess(command(), {
      OUTBOUND__TLS__CA_FILE: authority.caFile,
      OUTBOUND__TLS__CERT_FILE: client.certFile,
      OUTBOUND__TLS__KEY_FILE: client.keyFile,
    });
    const { admin, ingress } = await ready(child);
    const registered = await register(admin, endpoint.url, version);
    expect(registered.status, registered.text).toBe(201);
    expect(await greet(ingress)).toBe(200);
  });

  test("are refused with the host and what to do", async () => {
    const child = startProcess(command(), {});
    const { admin } = await ready(child);
    const endpoint = await endpointOf("h2", own);
    const { host } = new URL(endpoint.url);
    for (const version of ["h2", "h1"] as const) {
      expect((await register(admin, endpoint.url, version)).text).toContain(
        `the certificate of ${host} is signed by an unknown authority`,
      );
    }
  });

  test("with certificates that are wrong are refused with why", async () => {
    const child = startProcess(command(), { OUTBOUND__TLS__CA_FILE: authority.caFile });
    const { admin } = await ready(child);
    const refusal = async (tls: EndpointTls) => {
      const endpoint = await endpointOf("h2", tls);
      const answer = await register(admin, endpoint.url);
      expect(answer.status).toBe(500);
      return answer.text;
    };
    expect(await refusal(authority.issue("old", { days: -1 }))).toMatch(
      /certificate of .+ has expired/,
    );
    expect(await refusal(authority.issue("other", { names: "DNS:other.example" })))
      .toMatch(/certificate of .+ is for other names \(/);
    expect(await refusal({ ...mutual(), ...{ rejectUnauthorized: true } }))
      .toMatch(/refuses connections without a client certificate.+outbound.tls.cert-file/);
  });

  test("may have another name in their certificate, and get other authorities later", async () => {
    const folder = newFolder();
    const caFile = path.join(folder, "ca.pem");
    copyFileSync(clients.caFile, caFile);
    const endpoint = await endpointOf("h2", authority.issue("o", { names: "DNS:orders.internal" }));
    const { host } = new URL(endpoint.url);
    const child = startProcess(command(), {
      OUTBOUND__TLS__CA_FILE: caFile,
      OUTBOUND__TLS__SERVER_NAMES: `["${host}=orders.internal"]`,
    });
    const { admin, ingress } = await ready(child);
    expect((await register(admin, endpoint.url)).text).toContain("unknown authority");
    copyFileSync(authority.caFile, caFile);
    await until(
      "it to be trusted",
      async () => (await register(admin, endpoint.url)).status < 300,
      15_000,
    );
    expect(await greet(ingress)).toBe(200);
  });
});
