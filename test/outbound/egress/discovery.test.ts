import { expect, test } from "vitest";
import { parseEgressRule } from "../../../src/config/egress_rule.ts";
import type { Dial } from "../../../src/dial.ts";
import { discover } from "../../../src/outbound/discover.ts";
import { Egress } from "../../../src/outbound/egress/egress.ts";
import { realClock } from "../_attempts.ts";
import { h1Endpoint, h2Endpoint } from "../_endpoint.ts";
import { dialer, started } from "../_talk.ts";

/** The failure of a discovery that fails. */
function failure(uri: string, dial: Dial, useHttp11 = false): Promise<unknown> {
  const discovery = discover({ uri, useHttp11, additionalHeaders: {} }, {
    ...{ dial, clock: realClock, clusterName: "here" },
    ...{ connectTimeoutMs: 1000, timeoutMs: 2000, bodyBytesMax: 10_000, partsMax: 1000 },
  });
  return discovery.then(() => "it was accepted", (cause) => cause);
}

test("an address that is refused is not asked, and META0018 says why", async () => {
  const { uri, connections } = await started(h1Endpoint((_, response) => response.end()));
  const dial = dialer({ egress: new Egress({ deny: [parseEgressRule("127.0.0.1")] }) });
  for (const useHttp11 of [false, true]) {
    expect(await failure(uri, dial, useHttp11)).toMatchObject({
      code: "META0018",
      status: 400,
      message: `[META0018] cannot call '${uri}': 127.0.0.1 is refused: entry "127.0.0.1" of ` +
        'outbound.deny; an entry "127.0.0.1" of outbound.allow permits it',
    });
  }
  expect(connections()).toBe(0);
});

test("a redirect is a status like any other: it is not followed", async () => {
  const target = await started(h1Endpoint((_, response) => response.end()));
  const location = { location: target.uri };
  const h1 = await started(h1Endpoint((_, response) => response.writeHead(308, location).end()));
  const h2 = await started(h2Endpoint((stream) => {
    stream.respond({ ":status": 308, ...location });
    stream.end();
  }));
  for (const [{ uri }, useHttp11] of [[h1, true], [h2, false]] as const) {
    const why = { code: "META0003", message: expect.stringContaining("308") };
    expect(await failure(uri, dialer(), useHttp11)).toMatchObject(why);
  }
  expect(target.connections()).toBe(0);
});
