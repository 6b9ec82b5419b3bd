import { describe, expect, test } from "vitest";
import type { NodeDialOptions } from "../../../adapters/dial/dial.ts";
import { parseEgressRule } from "../../../src/config/egress_rule.ts";
import type { DialRequest } from "../../../src/dial.ts";
import { Egress, type EgressOptions } from "../../../src/outbound/egress/egress.ts";
import { OwnPorts } from "../../../src/outbound/egress/own_ports.ts";
import { certificate } from "../_certificate.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, until } from "../_endpoint.ts";
import { dialer, open, over, started } from "../_talk.ts";
import { resolver } from "./_resolver.ts";

const rules = (...texts: string[]) => texts.map(parseEgressRule);
const METADATA = "169.254.169.254";
const FORBIDDEN = ["failed forbidden"];
const ANSWERED = { h1: ["200 HTTP/1.1", "end"], h2: ["200 HTTP/2.0", "end"] };

/** A server that answers at once. */
function endpoint(version: "h1" | "h2", isSecure = false): Promise<Endpoint> {
  if (version === "h1") return started(h1Endpoint((_, response) => response.end()));
  const secure = isSecure ? certificate() : undefined;
  return started(h2Endpoint(
    (stream) => {
      stream.respond({ ":status": 200 });
      stream.end();
    },
    {},
    secure,
  ));
}

/** Sends one request through a dial, and waits for how it ends. */
async function ask(dial: ReturnType<typeof dialer>, url: string, version: DialRequest["version"]) {
  const talk = open(dial, url, { version, method: "GET" });
  await until(() => over(talk));
  return talk.received;
}

const through = (egress: EgressOptions, more: NodeDialOptions = {}) =>
  dialer({ ...more, egress: new Egress(egress) });

describe.each(["h1", "h2"] as const)("connections over %s", (version) => {
  test("an address that is refused is not connected to", async () => {
    const { uri, connections } = await endpoint(version);
    expect(await ask(through({ deny: rules("127.0.0.1") }), uri, version)).toEqual(FORBIDDEN);
    expect(await ask(through({}), `http://${METADATA}/`, version)).toEqual(FORBIDDEN);
    expect(connections()).toBe(0);
  });

  test("a port of this server is not connected to", async () => {
    const { uri, port, connections } = await endpoint(version);
    const own = new OwnPorts();
    own.add("127.0.0.1", port);
    expect(await ask(through({ own }), uri, version)).toEqual(FORBIDDEN);
    expect(connections()).toBe(0);
  });

  test("a name that resolves to a refused address is not connected to", async () => {
    const { port, connections } = await endpoint(version);
    const { resolve } = resolver(["127.0.0.1"]);
    const dial = through({ deny: rules("127.0.0.0/8") }, { resolve });
    expect(await ask(dial, `http://a.example:${port}/`, version)).toEqual(FORBIDDEN);
    expect(connections()).toBe(0);
  });

  test("of several addresses of a name, refused ones are left out", async () => {
    const { port, connections } = await endpoint(version);
    const { resolve } = resolver([METADATA, "127.0.0.1", "fe80::1"]);
    const url = `http://a.example:${port}/`;
    expect(await ask(through({}, { resolve }), url, version)).toEqual(ANSWERED[version]);
    expect(connections()).toBe(1);
  });

  test("a name that is refused is not even resolved", async () => {
    const { resolve, asked } = resolver(["127.0.0.1"]);
    const dial = through({}, { resolve });
    expect(await ask(dial, "http://metadata.google.internal./", version)).toEqual(FORBIDDEN);
    expect(asked()).toBe(0);
  });

  test("the address that was checked is the one that is connected to", async () => {
    const { port, connections } = await endpoint(version);
    // Were a name resolved again after the check, the second answer would be connected to.
    const { resolve, asked } = resolver([METADATA], ["127.0.0.1"]);
    const dial = through({}, { resolve });
    expect(await ask(dial, `http://a.example:${port}/`, version)).toEqual(FORBIDDEN);
    expect([asked(), connections()]).toEqual([1, 0]);
  });

  test("a name is resolved and checked once for each connection, not for each request", async () => {
    const { port, connections } = await endpoint(version);
    const { resolve, asked } = resolver(["127.0.0.1"], [METADATA]);
    const dial = through({}, { resolve });
    const url = `http://a.example:${port}/`;
    for (let i = 0; i < 3; i++) expect(await ask(dial, url, version)).toEqual(ANSWERED[version]);
    expect([asked(), connections()]).toEqual([1, 1]);
    await dial.close();
    expect(await ask(through({}, { resolve }), url, version)).toEqual(FORBIDDEN);
    expect([asked(), connections()]).toEqual([2, 1]);
  });

  test("redirects are not followed", async () => {
    const target = await endpoint(version);
    const location = { location: target.uri };
    const { uri } = version === "h1"
      ? await started(h1Endpoint((_, response) => response.writeHead(307, location).end()))
      : await started(h2Endpoint((stream) =>
        stream.respond({ ":status": 307, ...location }, {
          endStream: true,
        })
      ));
    const [head] = await ask(through({}), uri, version);
    expect(head).toMatch(/^307 /);
    expect(target.connections()).toBe(0);
  });
});

describe.each(["h2", "alpn"] as const)("connections over TLS, asked for as %s", (version) => {
  test("an address that is refused is not connected to", async () => {
    const { uri, port, connections } = await endpoint("h2", true);
    const tls = () => ({ ca: [certificate().cert] });
    const deny = rules("127.0.0.1");
    expect(await ask(through({ deny }, { tls }), uri, version)).toEqual(FORBIDDEN);
    const { resolve } = resolver(["127.0.0.1"]);
    const named = through({ deny }, { tls, resolve });
    expect(await ask(named, `https://a.example:${port}/`, version)).toEqual(FORBIDDEN);
    expect(connections()).toBe(0);
    expect(await ask(through({}, { tls }), uri, version)).toEqual(ANSWERED.h2);
  });

  test("a name is connected to at the address that was checked", async () => {
    const { port, connections } = await endpoint("h2", true);
    const { resolve, asked } = resolver([METADATA, "127.0.0.1"], [METADATA]);
    const dial = through({}, { tls: () => ({ ca: [certificate().cert] }), resolve });
    // The certificate is for the address only, so that the connection ends after its handshake.
    const [end] = await ask(dial, `https://a.example:${port}/`, version);
    expect(end).toMatch(/^failed (unreachable|http1)$/);
    expect([asked(), connections()]).toEqual([1, 1]);
  });
});

test("HTTP/1.1 over TLS is refused as well", async () => {
  const { uri, port, connections } = await endpoint("h2", true);
  const { resolve } = resolver(["127.0.0.1"]);
  const dial = through({ deny: rules("127.0.0.1") }, { resolve });
  expect(await ask(dial, uri, "h1")).toEqual(FORBIDDEN);
  expect(await ask(dial, `https://a.example:${port}/`, "h1")).toEqual(FORBIDDEN);
  expect(connections()).toBe(0);
});
