import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { freePorts, until } from "../support/child.ts";
import { type Address, call, register } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { startServer } from "../support/server.ts";
import { startWorkerd, WorkerdServer } from "../workerd/_server.ts";
import { startCollector } from "./_collector.ts";

const START_MS = 60_000;
const METADATA = "http://169.254.169.254/";
type Start = (
  settings: Record<string, string>,
) => Promise<Address & { logs(): string; close(): unknown }>;
const started: Readonly<Record<string, Start>> = {
  node: (settings) => startServer({ runtime: "node", settings }),
  deno: (settings) => startServer({ runtime: "deno", settings }),
  workerd: (settings) => startWorkerd({ settings }),
};

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const opened = async <T extends { close(): unknown }>(one: Promise<T>): Promise<T> => {
  open.push(await one);
  return await one;
};

/** A call, of which a server with a collector has spans. */
async function traced(server: Address): Promise<void> {
  expect((await register(server, await opened(startEndpoint("h2")))).status).toBe(201);
  expect((await call(server, "Greeter/greet", "you")).status).toBe(200);
}

describe.each(Object.entries(started))("on %s", (runtime, start) => {
  test("a collector on loopback gets its spans without a rule", async () => {
    const collector = await opened(startCollector());
    await traced(await opened(start({ TRACING_ENDPOINT: collector.url })));
    await until("spans", () => collector.spans.length > 0);
  }, START_MS);

  test("with a list of what is allowed, one that is on it gets them", async () => {
    const collector = await opened(startCollector());
    const server = await opened(start({
      TRACING_ENDPOINT: collector.url,
      OUTBOUND__DENY: '["*:1-9", "127.0.0.1"]',
      OUTBOUND__ALLOW: JSON.stringify([new URL(collector.url).host, "127.0.0.1:9000-65535"]),
    }));
    await traced(server);
    await until("spans", () => collector.spans.length > 0);
  }, START_MS);

  // workerd does not tell what a name resolves to.
  test.skipIf(runtime === "workerd")(
    "one whose name leads to a refused address gets nothing, and the log says why",
    async () => {
      const collector = await opened(startCollector());
      const { port } = new URL(collector.url);
      const server = await opened(start({
        TRACING_ENDPOINT: `http://localhost:${port}`,
        OUTBOUND__DENY: JSON.stringify([`127.0.0.0/8:${port}`, `[::1]:${port}`]),
      }));
      await traced(server);
      await until("the refusal", () => server.logs().includes("RT0038"));
      expect(server.logs()).toMatch(/which 'localhost' resolves to, is refused: entry/);
      expect(collector.spans).toEqual([]);
    },
    START_MS,
  );
});

test.each(["node", "deno"] as const)(
  "on %s a refused address of the settings ends the start, with what permits it",
  async (runtime) => {
    const issuer = { AUTH__JWT__ISSUER: "i", AUTH__JWT__KEYS: METADATA };
    for (const settings of [{ TRACING_ENDPOINT: METADATA }, issuer]) {
      const failed = await startServer({ runtime, settings })
        .then((server) => `It started: ${open.push(server)}`, (cause) => String(cause));
      expect(failed).toMatch(
        /\[RT0038\] cannot use "(tracing-endpoint|auth\.jwt\.keys)": 169\.254\.169\.254 is refused: a link-local .* an entry "169\.254\.169\.254" of outbound\.allow permits it\. Permit it with/,
      );
    }
  },
  START_MS,
);

test(
  "on workerd a refused address of the settings is what each request is answered with",
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "perdure-workerd-"));
    const settings = { TRACING_ENDPOINT: "http://metadata.google.internal/v1/traces" };
    const server = new WorkerdServer(folder, await freePorts(2), { settings });
    open.push(server);
    // It waits for a health that never comes.
    const starting = server.start().catch(() => {});
    let answer = "";
    await until("an answer", async () => {
      answer = await fetch(`${server.ingress}/svc/health`).then((one) => one.text(), () => "");
      return answer !== "";
    }, 20_000);
    expect(answer).toMatch(
      /\[RT0038\] cannot use \\"tracing-endpoint\\": metadata\.google\.internal/,
    );
    await server.close();
    await starting;
  },
  START_MS,
);
