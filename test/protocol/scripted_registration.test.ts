import { expect } from "vitest";
import type { Json, Script } from "./_script.ts";
import { manifestType } from "./_script_manifest.ts";
import { line, stage } from "./_script_stage.ts";

// Discovery and registration (docs/spec/service-protocol.md#checklist), as an endpoint sees them.

const { prepare, play, target } = stage();

async function get(path: string): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${target().admin}${path}`);
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : { text } };
}

/** What registration refused with: status, and code if any. */
async function refusal(script: Script): Promise<readonly [number, unknown]> {
  const { status, body } = await script.register();
  return [status, body[`${target().word}_code`]];
}

line(
  "1 given an HTTP/2 endpoint, then it is asked by prior knowledge and kept as HTTP/2",
  async () => {
    const script = await prepare({});
    const { status, body } = await script.register();
    expect(status).toBe(201);
    const [asked, ...more] = script.discoveries;
    expect(more).toEqual([]);
    expect(asked?.httpVersion).toBe("2.0");
    const accepted = String(asked?.headers.accept).split(",").map((one) => one.trim());
    for (const version of [2, 3, 4]) expect(accepted).toContain(manifestType(version));
    const { body: deployment } = await get(`/deployments/${body.id}`);
    expect(deployment).toMatchObject({ http_version: "HTTP/2.0", protocol_type: "BidiStream" });
  },
);

line(
  "2 given an HTTP/1.1 endpoint, then META0014 without the option, success with it",
  async () => {
    const script = await prepare({ transport: "h1" });
    const { status, body } = await script.register({ use_http_11: false });
    expect([status, body[`${target().word}_code`]]).toEqual([500, "META0014"]);
    expect(body.message).toMatch(/http.?1\.?1/i);
    const { status: then, body: { id } } = await script.register({ use_http_11: true });
    expect(then).toBe(201);
    expect((await get(`/deployments/${id}`)).body).toMatchObject({ http_version: "HTTP/1.1" });
  },
);

line("3 given a base URL with a path, then discovery and invocations go below it", async () => {
  const script = await play({ base: "/a/b" }, async (attempt) => {
    await attempt.replay();
    await attempt.succeed("below");
  });
  expect(script.discoveries.map((one) => one.path)).toEqual(["/a/b/discover"]);
  expect(await script.call()).toMatchObject({ status: 200, text: "below" });
  expect(script.attempts.map((one) => one.exchange.path)).toEqual([
    `/a/b/invoke/${script.name}/run`,
  ]);
  expect(script.strays).toEqual([]);
});

line("4 given a manifest of each type v1 to v4, then all fields are read", async () => {
  for (const version of [1, 2, 3, 4]) {
    const options = {
      inactivityTimeout: 11_000,
      abortTimeout: 12_000,
      journalRetention: 13_000,
      documentation: "words",
      metadata: { key: "value" },
      retryPolicyMaxAttempts: 7,
      retryPolicyOnMaxAttempts: "KILL",
    };
    const script = await prepare({
      options,
      discover: () => ({ contentType: manifestType(version) }),
    });
    expect((await script.register()).status).toBe(201);
    expect((await get(`/services/${script.name}`)).body).toMatchObject({
      inactivity_timeout: "11s",
      abort_timeout: "12s",
      journal_retention: "13s",
      documentation: "words",
      metadata: { key: "value" },
      retry_policy: { max_attempts: 7, on_max_attempts: "Kill" },
    });
  }
});

line("5 given a manifest with an unknown field, then it is accepted", async () => {
  const script = await prepare({
    discover: (_, manifest) => ({ body: { ...manifest, newerThanUs: { of: ["any", "shape"] } } }),
  });
  expect((await script.register()).status).toBe(201);
});

line("6 given an endpoint that answers 503 twice, then registration succeeds", async () => {
  const script = await prepare({ discover: (count) => (count <= 2 ? { status: 503 } : {}) });
  expect((await script.register()).status).toBe(201);
  expect(script.discoveries).toHaveLength(3);
});

for (const status of [404, 401, 415]) {
  line(`7 given an endpoint that answers ${status}, then META0003 without a retry`, async () => {
    const script = await prepare({ discover: () => ({ status }) });
    expect(await refusal(script)).toEqual([500, "META0003"]);
    expect(script.discoveries).toHaveLength(1);
  });
}

for (
  const contentType of [undefined, "application/json", `${manifestType(4)}; charset=utf-8`]
) {
  line(`8 given the discovery content type ${contentType}, then META0013`, async () => {
    const script = await prepare({ discover: () => ({ contentType }) });
    expect(await refusal(script)).toEqual([500, "META0013"]);
  });
}

line("9 given a manifest without protocolMode, then META0013", async () => {
  const script = await prepare({
    discover: (_, { protocolMode: _mode, ...body }) => ({ body }),
  });
  expect(await refusal(script)).toEqual([500, "META0013"]);
});

line("9 given a manifest with min above max, then META0013", async () => {
  expect(await refusal(await prepare({ min: 7, max: 6 }))).toEqual([500, "META0013"]);
});

for (const [min, max] of [[1, 3], [8, 9]] as const) {
  line(`10 given versions ${min} to ${max}, then META0012`, async () => {
    expect(await refusal(await prepare({ min, max }))).toEqual([500, "META0012"]);
  });
}

line("11 given versions 5 to 99, then the server speaks its own maximum", async () => {
  const script = await play({ max: 99 }, async (attempt) => {
    await attempt.replay();
    await attempt.succeed(attempt.contentType);
  });
  expect((await script.call()).text).toBe("application/vnd.restate.invocation.v6");
});

for (
  const [type, handlerType] of [
    ["SERVICE", "EXCLUSIVE"],
    ["SERVICE", "WORKFLOW"],
    ["VIRTUAL_OBJECT", "WORKFLOW"],
    ["WORKFLOW", "EXCLUSIVE"],
  ]
) {
  line(
    `12 given a ${type} with a handler ${handlerType}, then 400 and nothing is kept`,
    async () => {
      const script = await prepare({
        discover: (_, manifest) => {
          const good = { name: "run", input: {}, output: {} };
          const bad = { ...good, name: "bad", ty: handlerType };
          const service = (name: string) => ({ name, ty: type, handlers: [bad] });
          return { body: { ...manifest, services: [service(script.name)] } };
        },
      });
      expect(await refusal(script)).toEqual([400, null]);
      expect((await get(`/services/${script.name}`)).status).toBe(404);
    },
  );
}

for (const name of ["restate_x", "openapi", "OpenAPI"]) {
  line(`13 given a service named "${name}", then META0005`, async () => {
    const script = await prepare({
      discover: (_, manifest) => ({
        body: { ...manifest, services: [{ name, ty: "SERVICE", handlers: [] }] },
      }),
    });
    expect(await refusal(script)).toEqual([400, "META0005"]);
  });
}

line("14 given a registered URL, when registered again, then 200 with the same id", async () => {
  const script = await prepare({});
  const { body: first } = await script.register();
  const { status, body } = await script.register();
  expect([status, body.id]).toEqual([200, first.id]);
  // We ask again, to refuse what has changed since; the reference believes that nothing has.
  expect(script.discoveries).toHaveLength(target().kind === "reference" ? 1 : 2);
});

line(
  "15 given a changed manifest, when registered with force, then same id, new revision",
  async () => {
    const script = await prepare({
      discover: (count, manifest) => {
        const [plain] = manifest.services as readonly [Json];
        return count === 1 ? {} : { body: { ...manifest, services: [plain] } };
      },
    });
    const { body: first } = await script.register();
    expect((await get(`/services/${script.object}`)).status).toBe(200);
    const { status, body } = await script.register({ force: true });
    expect([status, body.id]).toEqual([200, first.id]);
    expect(script.discoveries).toHaveLength(2);
    expect((await get(`/services/${script.name}`)).body).toMatchObject({ revision: 2 });
    expect((await get(`/services/${script.object}`)).status).toBe(404);
  },
);
