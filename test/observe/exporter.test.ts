import { createServer } from "node:http";
import { expect, test } from "vitest";
import { Exporter } from "../../src/observe/exporter.ts";
import type { Span } from "../../src/observe/otlp.ts";
import type { Clock } from "../../src/ports.ts";
import { listen } from "../outbound/_endpoint.ts";
import { started } from "../outbound/_talk.ts";

const span: Span = {
  trace: "4bf92f3577b34da6a3ce929d0e0e4736",
  id: "00f067aa0ba902b7",
  parent: "00f067aa0ba902b8",
  name: "attempt Greeter/greet",
  kind: "client",
  startMs: 1_700_000_000_123,
  endMs: 1_700_000_000_125,
  isError: true,
  attributes: { attempt: 2, "error.type": "RT0010", none: undefined },
};

function stage(answer?: () => Promise<Response>, endpoint = "http://collector:4318") {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    at: (_, call) => (timers.push(call), () => {}),
    soon: (call) => call(),
  };
  const sent: { url: string; body: string; headers: Headers }[] = [];
  const records: string[] = [];
  const exporter = new Exporter({
    endpoint,
    headers: { authorization: "Bearer secret" },
    spansMax: 1000,
    resource: { "service.name": "perdure", "service.version": "1.0.0" },
    clock,
    log: (level, message, fields) => records.push(`${level} ${message} ${JSON.stringify(fields)}`),
    ...(answer && {
      fetch: (url, init) => {
        sent.push({
          url: String(url),
          body: String(init?.body),
          headers: new Headers(init?.headers),
        });
        return answer();
      },
    }),
  });
  const tick = async () => {
    for (const call of timers.splice(0)) call();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { exporter, sent, records, tick };
}

test("spans go out in one request, as a collector reads them", async () => {
  const { exporter, sent, tick } = stage(() => Promise.resolve(new Response("{}")));
  exporter.add(span);
  exporter.add({ ...span, parent: undefined, isError: false });
  await tick();
  expect(sent.map(({ url }) => url)).toEqual(["http://collector:4318/v1/traces"]);
  expect(sent[0]?.headers.get("authorization")).toBe("Bearer secret");
  const { resourceSpans: [group] } = JSON.parse(sent[0]?.body ?? "");
  expect(group.resource.attributes).toContainEqual(
    { key: "service.name", value: { stringValue: "perdure" } },
  );
  const [first, second] = group.scopeSpans[0].spans;
  expect(first).toEqual({
    traceId: span.trace,
    spanId: span.id,
    parentSpanId: span.parent,
    flags: 1,
    name: span.name,
    kind: 3,
    startTimeUnixNano: "1700000000123000000",
    endTimeUnixNano: "1700000000125000000",
    attributes: [
      { key: "attempt", value: { intValue: "2" } },
      { key: "error.type", value: { stringValue: "RT0010" } },
    ],
    status: { code: 2 },
  });
  expect(second).not.toHaveProperty("parentSpanId");
  expect([exporter.exported, exporter.dropped]).toEqual([2, 0]);
});

test("no caller waits for a collector that hangs, and spans beyond the limit are dropped", async () => {
  const { exporter, sent, tick } = stage(() => new Promise(() => {}));
  for (let i = 0; i < 5000; i++) exporter.add(span);
  await tick();
  expect(sent).toHaveLength(1);
  expect(exporter.dropped).toBe(5000 - 512 - 1000);
});

test("spans that a collector refuses are counted and logged, without their content", async () => {
  const { exporter, records, tick } = stage(() =>
    Promise.resolve(new Response("no", { status: 503 }))
  );
  exporter.add(span);
  await tick();
  expect([exporter.exported, exporter.dropped]).toEqual([0, 1]);
  expect(records).toEqual([expect.stringContaining("503")]);
  expect(records.join()).not.toContain("secret");
});

test("a collector that cannot be reached is named, with the cause", async () => {
  const inner = new Error("connect ECONNREFUSED 127.0.0.1:4318");
  const { exporter, records, tick } = stage(
    () => Promise.reject(new TypeError("fetch failed", { cause: inner })),
    "http://collector:4318?key=hush",
  );
  exporter.add(span);
  await tick();
  expect(records.join()).toContain("http://collector:4318/v1/traces");
  // Some collectors have their token there.
  expect(records.join()).not.toContain("hush");
  expect(records.join()).toContain("fetch failed: connect ECONNREFUSED 127.0.0.1:4318");
});

test("the rest goes out at the end; a collector that is gone ends it at once", async () => {
  const well = stage(() => Promise.resolve(new Response("{}")));
  for (let i = 0; i < 3; i++) well.exporter.add(span);
  await well.exporter.close();
  expect(well.exporter.exported).toBe(3);
  const gone = stage(() => Promise.reject(new Error("gone")));
  for (let i = 0; i < 900; i++) gone.exporter.add(span);
  await gone.exporter.close();
  expect(gone.exporter.dropped).toBe(900);
  gone.exporter.add(span);
  expect(gone.exporter.dropped).toBe(901);
});

test("a collector that redirects is not followed, since its headers are for no other", async () => {
  const target = await started(listen(createServer((_, response) => response.end("{}"))));
  const location = { location: target.uri };
  const collector = await started(listen(createServer((request, response) => {
    request.resume();
    response.writeHead(307, location).end();
  })));
  const { exporter, records } = stage(undefined, collector.uri);
  exporter.add(span);
  await exporter.close();
  expect(records).toEqual([expect.stringContaining('"status":307')]);
  expect([target.connections(), exporter.dropped]).toEqual([0, 1]);
});
