import { describe, expect, test } from "vitest";
import { discovered, handler, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

/** Service record of the defaults, as the reference answers it. */
const inherited = {
  public: true,
  idempotency_retention: "1d",
  journal_retention: "1d",
  inactivity_timeout: "1m",
  abort_timeout: "10m",
  enable_lazy_state: false,
  retry_policy: {
    initial_interval: "500ms",
    exponentiation_factor: 2,
    max_attempts: 70,
    max_interval: "1m",
    on_max_attempts: "Pause",
  },
};

const json = { contentType: "application/json", setContentTypeIfEmpty: false };

async function registered(...parts: Parameters<typeof discovered>) {
  const all = await setup();
  all.endpoints.set(uri, discovered(...parts));
  const { json } = await all.register({ uri });
  return { ...all, id: json.id as string, answer: json };
}

describe("a deployment", () => {
  test("is answered on registration as in the reference's sample", async () => {
    const one = handler("one", {
      input: { required: true, contentType: "application/json" },
      output: json,
    });
    const { answer, id } = await registered([service("Small", [one])], {
      sdkVersion: "sdk-typescript/1.17.2",
    });
    expect(answer).toEqual({
      id,
      services: [{
        name: "Small",
        ty: "Service",
        handlers: [{
          name: "one",
          public: true,
          input_description: "application/json",
          output_description: "application/json",
          retry_policy: { max_attempts: null },
        }],
        deployment_id: id,
        revision: 1,
        ...inherited,
      }],
      min_protocol_version: 5,
      max_protocol_version: 7,
      sdk_version: "sdk-typescript/1.17.2",
    });
  });

  test("shows the fields of a service in the order clients know", async () => {
    const { answer } = await registered([service("A")]);
    expect(Object.keys(answer.services[0])).toEqual([
      "name",
      "ty",
      "handlers",
      "deployment_id",
      "revision",
      "public",
      "idempotency_retention",
      "journal_retention",
      "inactivity_timeout",
      "abort_timeout",
      "enable_lazy_state",
      "retry_policy",
    ]);
  });

  test("is listed with the names and revisions of its services", async () => {
    const { endpoints, register, get } = await setup();
    endpoints.set(uri, discovered([service("Small"), service("Small2")]));
    const { json } = await register({
      uri: "http://localhost:9080",
      metadata: { git: "abc" },
      additional_headers: { "X-Api": "k", authorization: "Bearer x" },
    });
    const listed = await get("/deployments");
    expect(listed.status).toBe(200);
    const record = {
      id: json.id,
      uri,
      protocol_type: "BidiStream",
      http_version: "HTTP/2.0",
      additional_headers: { "x-api": "k", authorization: "Bearer x" },
      metadata: { git: "abc" },
      created_at: expect.stringMatching(/^2026-11-20T15:40:41\.\d{3}000000Z$/),
      min_protocol_version: 5,
      max_protocol_version: 7,
      services: [{ name: "Small", revision: 1 }, { name: "Small2", revision: 1 }],
    };
    expect(listed.json).toEqual({ deployments: [record] });
    const detailed = await get(`/deployments/${json.id}`);
    expect(detailed.json).toEqual({ ...record, services: json.services });
  });

  test("over HTTP/1.1 in request-response mode says so", async () => {
    const { get, id } = await registered([], { mode: "requestResponse", httpVersion: "HTTP/1.1" });
    const { json } = await get(`/deployments/${id}`);
    expect(json).toMatchObject({ protocol_type: "RequestResponse", http_version: "HTTP/1.1" });
    expect(Object.keys(json)).toEqual([
      "id",
      "uri",
      "protocol_type",
      "http_version",
      "created_at",
      "min_protocol_version",
      "max_protocol_version",
      "services",
    ]);
  });
});

describe("a service", () => {
  test("shows what it sets itself, and else the server's defaults", async () => {
    const { get, id } = await registered([
      service("S", [], {
        type: "virtual_object",
        public: false,
        documentation: "Sums",
        metadata: { team: "x" },
        options: {
          idempotencyRetentionMs: 0,
          journalRetentionMs: 123_456_789,
          inactivityTimeoutMs: 300_000,
          abortTimeoutMs: 1500,
          lazyState: true,
          retry: { factor: 3, maxAttempts: 3, onMaxAttempts: "kill" },
        },
      }),
    ]);
    expect((await get("/services/S")).json).toEqual({
      name: "S",
      ty: "VirtualObject",
      handlers: [],
      documentation: "Sums",
      metadata: { team: "x" },
      deployment_id: id,
      revision: 1,
      public: false,
      idempotency_retention: "0s",
      journal_retention: "1d 10h 17m 36s 789ms",
      inactivity_timeout: "5m",
      abort_timeout: "1s 500ms",
      enable_lazy_state: true,
      retry_policy: {
        initial_interval: "500ms",
        exponentiation_factor: 3,
        max_attempts: 3,
        max_interval: "1m",
        on_max_attempts: "Kill",
      },
    });
  });

  test("that is a workflow shows how long its run is kept", async () => {
    const run = (name: string, workflowRetentionMs: number) =>
      handler(name, { access: "run", options: { workflowRetentionMs } });
    const type = "workflow";
    const { get } = await registered([
      service("Default", [handler("run", { access: "run" })], { type }),
      service("Own", [run("run", 7000), handler("s", { access: "shared" })], { type }),
      service("Two", [run("run", 7000), run("run2", 129_600_000)], { type }),
      service("None", [handler("s", { access: "shared" })], { type }),
    ]);
    const retention = async (name: string) =>
      (await get(`/services/${name}`)).json.workflow_completion_retention;
    expect(await retention("Default")).toBe("1d");
    expect(await retention("Own")).toBe("7s");
    expect(await retention("Two")).toBe("1d 12h");
    expect(await retention("None")).toBe("1d");
  });

  test("in request-response mode shows that an inactivity timeout is ignored", async () => {
    const handlers = [
      handler("a", { options: { inactivityTimeoutMs: 5 } }),
      handler("b"),
      handler("c", { options: { inactivityTimeoutMs: 0 } }),
    ];
    const options = { inactivityTimeoutMs: 1000 };
    const { get } = await registered(
      [service("Set", handlers, { options }), service("Unset")],
      { mode: "requestResponse" },
    );
    const message = (timeout: string, what: string) =>
      `The configured inactivity_timeout ${timeout} will not be applied because the ${what} ` +
      "is exposed in Request/Response mode.";
    const { json } = await get("/services/Set");
    expect(json.inactivity_timeout).toBe("0s");
    expect(json.info).toEqual([{ code: "RT0021", message: message("1s", "service") }]);
    const [a, b, c] = json.handlers;
    expect(a.info).toEqual([{ code: "RT0021", message: message("5ms", "handler") }]);
    expect(a).not.toHaveProperty("inactivity_timeout");
    expect(b).not.toHaveProperty("info");
    expect(c.info).toEqual([{ code: "RT0021", message: message("0s", "handler") }]);
    expect((await get("/services/Unset")).json).not.toHaveProperty("info");
  });
});
