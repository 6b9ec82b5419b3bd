import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { PASSWORD } from "./broker/security.ts";
import { eventually, type SidecarProcess } from "./_sidecar.ts";
import { stage } from "./_stage.ts";

const jars = await brokerTools();

describe.skipIf(jars === undefined)("security", () => {
  const on = stage(jars, { isSecure: true });
  const sasl = (mechanism: string) => ({
    "bootstrap.servers": on.broker.saslAddress,
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": mechanism,
    "sasl.username": "user",
    "sasl.password": PASSWORD,
    "ssl.ca.pem": on.broker.ca(),
  });

  async function consumes(
    properties: Readonly<Record<string, string>>,
    args: readonly string[] = [],
  ): Promise<SidecarProcess> {
    const topic = on.name();
    await on.topics.create(topic);
    await on.topics.send(topic, "v");
    on.server.cluster("secure", { ...properties });
    on.server.subscribe("s", topic, { source: `kafka://secure/${topic}` });
    const sidecar = on.sidecar({ args });
    await eventually("the record", () => on.server.texts("s").length === 1, sidecar);
    return sidecar;
  }

  test.each(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])("%s over TLS", async (mechanism) => {
    await consumes(sasl(mechanism));
  });

  test("a CA in a file, and a key store as client certificate", async () => {
    await consumes({
      "bootstrap.servers": on.broker.mutualAddress,
      "security.protocol": "ssl",
      "ssl.ca.location": on.broker.file("ca.pem"),
      "ssl.keystore.location": on.broker.file("client.p12"),
      "ssl.keystore.password": PASSWORD,
    });
  });

  test("OAUTHBEARER by a command, if the sidecar may run commands", async () => {
    const { "sasl.username": _u, "sasl.password": _p, ...properties } = sasl("OAUTHBEARER");
    const claims = { sub: "user", iat: 1, exp: Math.floor(Date.now() / 1000) + 600 };
    const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
    const file = on.broker.file("token");
    writeFileSync(file, `${part({ alg: "none" })}.${part(claims)}.`);
    const command = { "sasl.oauthbearer.token.command": `cat ${file}` };
    const sidecar = await consumes(
      { ...properties, ...command },
      ["--kafka.allow-token-commands=true"],
    );
    await sidecar.stop("SIGKILL");
    const other = on.sidecar();
    await eventually("the state", () => on.server.report("s")?.state === "failing", other);
    expect(on.server.report("s")?.lastError?.message).toContain("--allow-token-commands");
  });

  test("OAUTHBEARER by an endpoint, with the credentials of a client", async () => {
    const asked: string[] = [];
    const endpoint = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      asked.push(`${request.headers.authorization} ${body}`);
      const claims = { sub: "user", iat: 1, exp: Math.floor(Date.now() / 1000) + 600 };
      const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
      const token = `${part({ alg: "none" })}.${part(claims)}.`;
      response.end(JSON.stringify({ access_token: token, expires_in: 600 }));
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    const { port } = endpoint.address() as { port: number };
    try {
      await consumes({
        ...sasl("OAUTHBEARER"),
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": `http://127.0.0.1:${port}/token`,
        "sasl.oauthbearer.client.id": "c:d",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.scope": "kafka",
      });
    } finally {
      endpoint.close();
    }
    expect(asked[0]).toBe(`Basic ${btoa("c%3Ad:s")} grant_type=client_credentials&scope=kafka`);
  });

  test("a wrong password is an error without it, and helped by a new one", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    await on.topics.send(topic, "v");
    const wrong = "wrong-secret-password";
    on.server.cluster("secure", { ...sasl("PLAIN"), "sasl.password": wrong });
    on.server.subscribe("s", topic, { source: `kafka://secure/${topic}` });
    on.server.subscribe("other", topic);
    const sidecar = on.sidecar();
    await eventually("the state", () => on.server.report("s")?.state === "failing", sidecar);
    expect(on.server.report("s")?.lastError?.message).toMatch(/authentication failed/i);
    await eventually("the other", () => on.server.texts("other").length === 1, sidecar);
    on.server.cluster("secure", sasl("PLAIN"));
    await eventually("the record", () => on.server.texts("s").length === 1, sidecar);
    expect(sidecar.child.output() + JSON.stringify(on.server.reports)).not.toContain(wrong);
    expect(sidecar.child.output()).not.toContain(PASSWORD);
  });

  test("a certificate that nobody has signed is refused", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    const { "ssl.ca.pem": _, ...properties } = sasl("PLAIN");
    on.server.cluster("secure", properties);
    on.server.subscribe("s", topic, { source: `kafka://secure/${topic}` });
    const sidecar = on.sidecar();
    await eventually("the state", () => on.server.report("s")?.state === "failing", sidecar);
    expect(on.server.report("s")?.lastError?.message).toMatch(/self.signed/);
  });
});
