import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { parseEgressRule } from "../../src/config/egress_rule.ts";
import type { Dial, DialListener, DialRequest } from "../../src/dial.ts";
import { Exporter } from "../../src/observe/exporter.ts";
import type { Span } from "../../src/observe/otlp.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";
import type { Clock } from "../../src/ports.ts";
import { listen, until } from "../outbound/_endpoint.ts";
import { dialer, started } from "../outbound/_talk.ts";
import { resolver } from "../outbound/egress/_resolver.ts";

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

/** What a collector does with a request: a status, how it fails, or nothing at all. */
type Played = number | Parameters<DialListener["failed"]>[0] | "hangs";

/** A dial to a collector that is played, and what it was sent. */
function played(answer: Played) {
  const sent: (DialRequest & { body: string })[] = [];
  const dial: Dial = {
    open(request, listener) {
      const got = { ...request, body: "" };
      sent.push(got);
      return {
        write: (bytes) => (got.body += new TextDecoder().decode(bytes), true),
        end: () =>
          queueMicrotask(() => {
            if (typeof answer === "object") return listener.failed(answer);
            if (answer === "hangs") return;
            listener.head({ status: answer, httpVersion: "HTTP/1.1", header: () => undefined });
            listener.end();
          }),
        abort: () => {},
        pause: () => {},
        resume: () => {},
      };
    },
    close: () => Promise.resolve(),
  };
  return { dial, sent };
}

function stage(dial: Dial, endpoint = "http://collector:4318") {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    at: (_, call) => (timers.add(call), () => void timers.delete(call)),
    soon: (call) => call(),
  };
  const records: string[] = [];
  const exporter = new Exporter({
    endpoint,
    headers: { authorization: "Bearer secret" },
    spansMax: 1000,
    resource: { "service.name": "perdure", "service.version": "1.0.0" },
    clock,
    log: (level, message, fields) => records.push(`${level} ${message} ${JSON.stringify(fields)}`),
    dial,
  });
  const tick = async () => {
    const due = [...timers];
    timers.clear();
    for (const call of due) call();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { exporter, records, tick };
}

test("spans go out in one request, as a collector reads them", async () => {
  const { dial, sent } = played(200);
  const { exporter, tick } = stage(dial);
  exporter.add(span);
  exporter.add({ ...span, parent: undefined, isError: false });
  await tick();
  expect(sent.map(({ url }) => url)).toEqual(["http://collector:4318/v1/traces"]);
  expect(sent[0]).toMatchObject({ method: "POST", headers: { authorization: "Bearer secret" } });
  expect(sent[0]?.headers["content-length"]).toBe(String(sent[0]?.body.length));
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
  const { dial, sent } = played("hangs");
  const { exporter, records, tick } = stage(dial);
  for (let i = 0; i < 5000; i++) exporter.add(span);
  expect(sent).toHaveLength(1);
  expect(exporter.dropped).toBe(5000 - 512 - 1000);
  // The time for its answer is over.
  await tick();
  expect(records).toEqual([expect.stringContaining("no answer within 10000 ms")]);
  expect([sent.length, exporter.dropped]).toEqual([2, 5000 - 1000]);
});

test("spans that a collector refuses are counted and logged, without their content", async () => {
  const { exporter, records, tick } = stage(played(503).dial);
  exporter.add(span);
  await tick();
  expect([exporter.exported, exporter.dropped]).toEqual([0, 1]);
  expect(records).toEqual([expect.stringContaining("503")]);
  expect(records.join()).not.toContain("secret");
});

test("a collector that cannot be reached is named, with the cause", async () => {
  const message = "connect ECONNREFUSED 127.0.0.1:4318";
  const { dial } = played({ kind: "unreachable", message });
  const { exporter, records, tick } = stage(dial, "http://collector:4318?key=hush");
  exporter.add(span);
  await tick();
  expect(records.join()).toContain("http://collector:4318/v1/traces");
  // Some collectors have their token there.
  expect(records.join()).not.toContain("hush");
  expect(records.join()).toContain(message);
});

test("the rest goes out at the end; a collector that is gone ends it at once", async () => {
  const well = stage(played(200).dial);
  for (let i = 0; i < 3; i++) well.exporter.add(span);
  await well.exporter.close();
  expect(well.exporter.exported).toBe(3);
  const gone = stage(played({ kind: "unreachable", message: "gone" }).dial);
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
  const { exporter, records } = stage(dialer(), collector.uri);
  exporter.add(span);
  await exporter.close();
  expect(records).toEqual([expect.stringContaining('"status":307')]);
  expect([target.connections(), exporter.dropped]).toEqual([0, 1]);
});

describe("a collector where the server may not connect", () => {
  const denying = (...rules: string[]) => new Egress({ deny: rules.map(parseEgressRule) });

  test.each([
    ["http://169.254.169.254/", /169\.254\.169\.254 is refused: a link-local address/],
    ["http://2852039166:4318", /169\.254\.169\.254 is refused/],
    ["http://[::ffff:a9fe:a9fe]:4318", /is refused/],
    ["http://metadata.google.internal/", /metadata\.google\.internal is refused/],
    ["http://127.0.0.1:4318", /entry "127\.0\.0\.0\/8" of outbound\.deny/],
  ])("ends the start when its address says so: %s", (endpoint, why) => {
    const dial = dialer({ egress: denying("127.0.0.0/8") });
    expect(() => stage(dial, endpoint)).toThrow(why);
    expect(() => stage(dial, endpoint)).toThrow(/^\[RT0038\] cannot use "tracing-endpoint": /);
  });

  test("is found out by what its name resolves to, each time", async () => {
    const collector = await started(listen(createServer((_, response) => response.end("{}"))));
    const { resolve } = resolver(["169.254.169.254"], ["127.0.0.1"]);
    const url = `http://collector.test:${collector.port}`;
    const { exporter, records, tick } = stage(dialer({ resolve }), url);
    exporter.add(span);
    await tick();
    await until(() => records.length > 0);
    expect(records).toEqual([expect.stringContaining('"code":"RT0038"')]);
    expect(records).toEqual([expect.stringMatching(
      /169\.254\.169\.254, which 'collector\.test' resolves to, is refused: a link-local address/,
    )]);
    expect([collector.connections(), exporter.dropped]).toEqual([0, 1]);
    exporter.add(span);
    await exporter.close();
    expect([collector.connections(), exporter.exported]).toEqual([1, 1]);
  });

  test("may be on loopback, as endpoints may, where no rule says otherwise", async () => {
    const collector = await started(listen(createServer((_, response) => response.end("{}"))));
    const only = new Egress({
      deny: [parseEgressRule("*")],
      allow: [parseEgressRule(`127.0.0.1:${collector.port}`)],
    });
    for (const egress of [new Egress(), only]) {
      const { exporter } = stage(dialer({ egress }), collector.uri);
      exporter.add(span);
      await exporter.close();
      expect(exporter.exported).toBe(1);
    }
  });

  test.each(["http://user:hush@collector:4318", "ftp://collector/hush", "http://[hush"])(
    "is refused as %s, which is not quoted",
    (endpoint) => {
      expect(() => stage(dialer(), endpoint)).toThrow(/^\[RT0002\] .*"tracing-endpoint"/);
      expect(() => stage(dialer(), endpoint)).not.toThrow(/hush/);
    },
  );
});
