import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { Guard } from "../../adapters/dial/guard.ts";
import { tokenProvider } from "../../adapters/kafka/oauth.ts";
import { Sockets } from "../../adapters/kafka/sockets.ts";
import { parseEgressRule } from "../../src/config/egress_rule.ts";
import { readSidecarConfig } from "../../src/config/sidecar_options.ts";
import { ForbiddenAddress } from "../../src/dial.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";
import { h1Endpoint, listen } from "../outbound/_endpoint.ts";
import { resolver } from "../outbound/egress/_resolver.ts";
import { started } from "../outbound/_talk.ts";

const denying = new Egress({ deny: [parseEgressRule("127.0.0.1")] });

/** Tokens of an endpoint by OIDC. */
const tokens = (url: string, egress = new Egress()) =>
  tokenProvider({
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": url,
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": "s3cret",
    "sasl.oauthbearer.scope": "all",
  }, { areCommandsAllowed: false, egress });

test("a sidecar connects to no broker at a refused address", async () => {
  const { port, connections } = await started(listen(net.createServer()));
  const { resolve } = resolver(["127.0.0.1"]);
  const connect = (host: string, egress: Egress, ssl = false) =>
    new Sockets(1000, new Guard(egress, resolve)).factory(
      {
        ...{ host, port, onConnect: () => {} },
        ...(ssl && { ssl: {} }),
      } as Parameters<Sockets["factory"]>[0],
    );
  for (const host of ["127.0.0.1", "a.example"]) {
    for (const ssl of [false, true]) {
      const [error] = await once(connect(host, denying, ssl), "error").catch((cause) => [cause]);
      expect(error).toBeInstanceOf(ForbiddenAddress);
    }
  }
  expect(connections()).toBe(0);
  const socket = connect("a.example", new Egress());
  await once(socket, "connect");
  socket.destroy();
});

test("a sidecar asks an endpoint for tokens, as the options say", async () => {
  const asked: unknown[] = [];
  const { uri } = await started(h1Endpoint((request, response) => {
    let body = "";
    request.on("data", (chunk) => body += chunk);
    request.on("end", () => {
      asked.push([request.method, request.headers.authorization, body]);
      response.end('{"access_token":"t","expires_in":60}');
    });
  }));
  expect(await tokens(uri)()).toEqual({ value: "t" });
  const basic = `Basic ${Buffer.from("me:s3cret").toString("base64")}`;
  expect(asked).toEqual([["POST", basic, "grant_type=client_credentials&scope=all"]]);
});

test("a sidecar asks no token endpoint at a refused address, and says why", async () => {
  const { uri, connections } = await started(h1Endpoint((_, response) => response.end("{}")));
  await expect(tokens(uri, denying)()).rejects.toThrow(
    'Cannot ask the token endpoint: 127.0.0.1 is refused: entry "127.0.0.1" of outbound.deny',
  );
  await expect(tokens("http://169.254.169.254/")()).rejects.toThrow("link-local");
  expect(connections()).toBe(0);
});

test("a sidecar follows no redirect of a token endpoint, and quotes nothing of it", async () => {
  const target = await started(h1Endpoint((_, response) => response.end("{}")));
  const location = { location: target.uri };
  const { uri } = await started(
    h1Endpoint((_, response) => response.writeHead(307, location).end()),
  );
  await expect(tokens(uri)()).rejects.toThrow("The token endpoint answers 307");
  expect(target.connections()).toBe(0);
  const odd = await started(h1Endpoint((_, response) => response.end("s3cret")));
  await expect(tokens(odd.uri)()).rejects.toThrow("something else than JSON");
});

test("a sidecar takes the settings of its server", () => {
  const config = readSidecarConfig(["--outbound.deny", '["10.0.0.0/8"]'], {
    SVC_OUTBOUND__ALLOW: '["10.0.0.1:9092"]',
  });
  expect([config.allow, config.deny].map(([rule]) => rule?.text))
    .toEqual(["10.0.0.1:9092", "10.0.0.0/8"]);
});
