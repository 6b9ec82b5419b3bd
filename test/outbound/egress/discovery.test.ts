import { expect, test } from "vitest";
import { parseEgressRule } from "../../../src/config/egress_rule.ts";
import type { Dial } from "../../../src/dial.ts";
import type { Lambda } from "../../../src/model/schema.ts";
import { discover } from "../../../src/outbound/discover.ts";
import { Egress } from "../../../src/outbound/egress/egress.ts";
import { Functions } from "../../../src/outbound/lambda/functions.ts";
import { realClock } from "../_attempts.ts";
import { h1Endpoint, h2Endpoint } from "../_endpoint.ts";
import { dialer, started } from "../_talk.ts";

/** The failure of a discovery that fails. */
function failure(
  uri: string,
  dial: Dial,
  { useHttp11 = false, lambda, functions }: {
    readonly useHttp11?: boolean;
    readonly lambda?: Lambda;
    readonly functions?: Functions;
  } = {},
): Promise<unknown> {
  const discovery = discover({ uri, lambda, useHttp11, additionalHeaders: {} }, {
    ...{ dial, clock: realClock, clusterName: "here", functions },
    ...{ connectTimeoutMs: 1000, timeoutMs: 2000, bodyBytesMax: 10_000, partsMax: 1000 },
  });
  return discovery.then(() => "it was accepted", (cause) => cause);
}

test("an address that is refused is not asked, and META0018 says why", async () => {
  const { uri, connections } = await started(h1Endpoint((_, response) => response.end()));
  const dial = dialer({ egress: new Egress({ deny: [parseEgressRule("127.0.0.1")] }) });
  for (const useHttp11 of [false, true]) {
    expect(await failure(uri, dial, { useHttp11 })).toMatchObject({
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
    expect(await failure(uri, dialer(), { useHttp11 })).toMatchObject(why);
  }
  expect(target.connections()).toBe(0);
});

test("a function is not called where its service may not lie, nor where it redirects", async () => {
  const seen: string[] = [];
  const target = await started(h1Endpoint((_, response) => response.end()));
  const { uri } = await started(h1Endpoint((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(307, { location: target.uri }).end("{}");
  }));
  const call = (dial: Dial) => {
    const functions = new Functions({
      credentials: { accessKeyId: "id", secretAccessKey: "key" },
      functionServiceUrl: uri,
      ...{ connectTimeoutMs: 1000, timeoutMs: 2000, answerBytesMax: 10_000 },
    }, { dial, clock: realClock });
    const arn = "arn:aws:lambda:eu-central-1:123456789012:function:shop:$LATEST";
    return failure(arn, dial, { lambda: {}, functions });
  };
  const denied = dialer({ egress: new Egress({ deny: [parseEgressRule("127.0.0.1")] }) });
  expect(await call(denied)).toMatchObject({ code: "META0018" });
  expect(seen).toEqual([]);
  const why = { code: "META0003", message: expect.stringContaining("307") };
  expect(await call(dialer())).toMatchObject(why);
  expect([seen.length, target.connections()]).toEqual([1, 0]);
});
