import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { Authority, type Issued } from "../support/certificates.ts";
import { type Child, until } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { askSecurely, type SecureRequest } from "../support/secure_client.ts";
import { closeAll, COMMANDS, newFolder, ready, startProcess } from "./_process.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let authority: Authority, clients: Authority, strangers: Authority, own: Issued;
beforeAll(() => {
  authority = new Authority("the authority of the server");
  clients = new Authority("the authority of clients");
  strangers = new Authority("the authority of strangers");
  own = authority.issue("server");
});
afterAll(() => [authority, clients, strangers].forEach((one) => one.close()));
const endpoints: Endpoint[] = [];
afterEach(async () => {
  await closeAll();
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
});

/** A server whose clients may show certificates. */
async function start(command: () => readonly [string, ...string[]], lines: readonly string[]) {
  const file = path.join(newFolder(), "tokens");
  writeFileSync(file, lines.join("\n"));
  const child: Child = startProcess(command(), {
    TLS__CERT_FILE: own.certFile,
    TLS__KEY_FILE: own.keyFile,
    TLS__CLIENT_CA_FILE: clients.caFile,
    AUTH__TOKENS_FILE: file,
  });
  return { child, file, ...await ready(child) };
}

describe.each(Object.entries(COMMANDS))("client certificates on %s", (_, command) => {
  test("name identities, which a real handler is called by", async () => {
    const operator = clients.issue("operator", { names: "DNS:ops.example.com" });
    const caller = clients.issue("caller", { names: "URI:spiffe://shop/cart" });
    const { admin, ingress } = await start(command, [
      "ops cert:dns:OPS.example.com admin",
      "cart cert:uri:spiffe://shop/cart invoke:Greeter/*",
    ]);
    const endpoint = await startEndpoint("h2");
    endpoints.push(endpoint);
    const { ca } = authority;
    const json = { "content-type": "application/json" };
    const register = { ca, headers: json, body: JSON.stringify({ uri: endpoint.url }) };
    const deployments = `${admin}/deployments`;
    expect((await askSecurely(deployments, { ...register, ...operator })).status).toBe(201);
    const refused = await askSecurely(deployments, { ...register, ...caller });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining("cart") });
    for (const version of ["h1", "h2"] as const) {
      const call: SecureRequest = { ca, version, headers: json, body: '"Ada"' };
      const greet = `${ingress}/svc/call/Greeter/greet`;
      expect(await askSecurely(greet, { ...call, ...caller })).toMatchObject({ status: 200 });
      expect(await askSecurely(greet, call)).toMatchObject({ status: 401 });
      const elsewhere = await askSecurely(`${ingress}/svc/call/Lazy/ada/take`, {
        ...call,
        ...caller,
      });
      expect(elsewhere.status).toBe(403);
      // A browser shows its certificate for any page.
      const page = { ...call, ...caller, headers: { ...json, origin: "https://evil.example" } };
      expect((await askSecurely(greet, page)).status).toBe(401);
    }
  });

  test("of others are refused, and a token works without one", async () => {
    const unlisted = clients.issue("unlisted");
    const { child, file, admin } = await start(command, [`ci ${await digestOf("a-token")} admin`]);
    const { ca } = authority;
    const version = `${admin}/version`;
    const answer = await askSecurely(version, { ca, ...unlisted });
    expect(answer).toMatchObject({ status: 401, body: expect.stringContaining("certificate of") });
    await expect(askSecurely(version, { ca, ...strangers.issue("stranger") })).rejects.toThrow();
    await until(
      "the log to say so",
      () => child.output().includes("A connection was refused for its certificate"),
    );
    const expired = clients.issue("expired", { days: -1 });
    await expect(askSecurely(version, { ca, ...expired })).rejects.toThrow();
    const headers = { authorization: "Bearer a-token" };
    expect((await askSecurely(version, { ca, headers })).status).toBe(200);
    expect((await askSecurely(version, { ca, headers, ...unlisted })).status).toBe(200);
    // The list is read again: the certificate counts from then on.
    writeFileSync(file, "unlisted cert:cn:unlisted viewer");
    await until(
      "the certificate to count",
      async () => (await askSecurely(version, { ca, ...unlisted })).status === 200,
      10_000,
    );
    expect((await askSecurely(version, { ca, headers })).status).toBe(401);
  });
});
