import { describe, expect, test } from "vitest";
import { discovered, handler, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

async function withService() {
  const all = await setup();
  all.endpoints.set(uri, discovered([service("Svc.v-1", [handler("h")])]));
  const { json } = await all.register({ uri });
  return { ...all, id: json.id as string };
}

describe("health and version", () => {
  test("answer", async () => {
    const { get } = await setup();
    expect(await get("/health")).toMatchObject({ status: 200, text: "" });
    const { status, json } = await get("/version");
    expect(status).toBe(200);
    const { features, ...rest } = json;
    expect(rest).toEqual({
      version: "1.7.12-perdure.0.1.0",
      min_admin_api_version: 2,
      max_admin_api_version: 4,
      ingress_endpoint: "http://127.0.0.1:8080/",
    });
    expect(Object.keys(features)).toHaveLength(12);
    expect(new Set(Object.values(features))).toEqual(new Set([false]));
  });
});

describe("services", () => {
  test("are listed by name, each at its latest revision", async () => {
    const { get, endpoints, register } = await withService();
    endpoints.set("http://localhost/b", discovered([service("B"), service("A")]));
    endpoints.set("http://localhost/c", discovered([service("B")]));
    await register({ uri: "http://localhost/b" });
    await register({ uri: "http://localhost/c" });
    const { json } = await get("/services");
    expect(json.services.map((one: { name: string; revision: number }) => [one.name, one.revision]))
      .toEqual([["A", 1], ["B", 2], ["Svc.v-1", 1]]);
  });

  test("are found by name, handlers too, and names may be percent-encoded", async () => {
    const { get } = await withService();
    expect((await get("/services/Svc.v-1")).json.name).toBe("Svc.v-1");
    expect((await get("/services/%53vc%2Ev-1/handlers/%68")).json.name).toBe("h");
    expect((await get("/services/Svc.v-1?x=1")).status).toBe(200);
  });

  test("that do not exist are refused in the words clients know", async () => {
    const { get } = await withService();
    const service = "The requested service 'Nope' does not exist";
    expect(await get("/services/Nope")).toMatchObject({
      status: 404,
      json: refusal(null, service),
    });
    expect((await get("/services/Nope/handlers")).json).toEqual(refusal(null, service));
    expect((await get("/services/a%20b%2Fc")).json.message).toContain("'a b/c'");
    for (const [one, name] of [["Nope", "h"], ["Svc.v-1", "nope"], ["Svc.v-1", "constructor"]]) {
      expect(await get(`/services/${one}/handlers/${name}`)).toMatchObject({
        status: 404,
        json: refusal(null, `The requested handler '${name}' on service '${one}' does not exist`),
      });
    }
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect((await get(`/services/${name}`)).status).toBe(404);
    }
    expect((await get("/services/%FF")).status).toBe(400);
    expect((await get("/services/Svc.v-1/handlers/%")).status).toBe(400);
  });
});

describe("deployments", () => {
  test("that do not exist are refused", async () => {
    const { get } = await setup();
    const id = "dp_16lq9KEFemrppKnYdVPzpTj";
    expect(await get(`/deployments/${id}`)).toMatchObject({
      status: 404,
      json: refusal(null, `The requested deployment '${id}' does not exist`),
    });
    for (
      const [bad, why] of [
        ["foo", "bad format"],
        ["inv_16lq9KEFemrppKnYdVPzpTj", "id doesn't match the expected type"],
        ["dp_26lq9KEFemrppKnYdVPzpTj", "unrecognized codec version"],
      ]
    ) {
      const { status, json } = await get(`/deployments/${bad}`);
      expect(status).toBe(400);
      expect(json).toEqual(refusal(null, expect.stringContaining(`'${bad}': ${why}`)));
    }
  });
});

describe("API versions", () => {
  test("2 to 4 have every route", async () => {
    const { get, id } = await withService();
    for (const version of ["v2", "v3", "v4"]) {
      for (
        const path of [
          "/health",
          "/version",
          "/deployments",
          `/deployments/${id}`,
          "/services",
          "/services/Svc.v-1",
          "/services/Svc.v-1/handlers",
          "/services/Svc.v-1/handlers/h",
        ]
      ) {
        const [prefixed, plain] = [await get(`/${version}${path}`), await get(path)];
        expect(prefixed).toMatchObject({ status: 200, text: plain.text });
      }
    }
  });

  test("1 is refused, others are unknown", async () => {
    const { get } = await setup();
    for (const path of ["/v1", "/v1/services", "/v1/nope"]) {
      const { status, json } = await get(path);
      expect(status).toBe(400);
      expect(json).toEqual(refusal(
        null,
        "Unsupported Admin API version V1. This server supports versions between V2 and V4",
      ));
    }
    for (
      const path of [
        "/v5/services",
        "/v0/services",
        "/v10/services",
        "/v04/health",
        "/v2",
        "/v22/health",
      ]
    ) {
      expect((await get(path)).status).toBe(404);
    }
  });

  test("2 forces unless told otherwise, and calls a known address a conflict", async () => {
    const { post, endpoints, registry } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    expect((await post("/v2/deployments", { uri })).status).toBe(201);
    expect((await post("/v2/deployments", { uri })).status).toBe(201);
    expect((await post("/v2/deployments", { uri, force: null })).status).toBe(201);
    const refused = await post("/v2/deployments", { uri, force: false });
    expect(refused.status).toBe(409);
    expect(refused.json.svc_code).toBe("META0004");
    expect((await post("/v3/deployments", { uri })).status).toBe(200);
    expect((await post("/v4/deployments", { uri, force: true })).status).toBe(200);
    expect(registry.schema().latest("A")?.revision).toBe(4);
  });
});

describe("a path or method we have not", () => {
  test("is refused with 404, or with 405 and the methods we have", async () => {
    const { get, send } = await setup();
    for (const path of ["/", "/nope", "/services/", "//services", "/services/a/b", "/health/x"]) {
      expect(await get(path)).toMatchObject({
        status: 404,
        json: refusal(null, expect.any(String)),
      });
    }
    for (
      const [method, path, allow] of [
        ["PUT", "/services", "GET, HEAD"],
        ["DELETE", "/health", "GET, HEAD"],
        ["POST", "/v3/services/x", "GET, HEAD, PATCH"],
        ["POST", "/services/x/handlers/y", "GET, HEAD, PATCH"],
        ["GET", "/limits/rules", "PUT"],
        ["GET", "/vqueues/x/pause", "POST"],
        ["PUT", "/deployments", "GET, HEAD, POST"],
        ["OPTIONS", "/deployments", "GET, HEAD, POST"],
      ] as const
    ) {
      const { status, headers, json } = await send(method, path);
      expect(status).toBe(405);
      expect(headers.get("allow")).toBe(allow);
      expect(json).toEqual(refusal(null, expect.stringContaining(method)));
    }
    expect((await send("PUT", "/nope")).status).toBe(404);
  });

  test("HEAD is answered like GET, without the body", async () => {
    const { send, id } = await withService();
    const found = await send("HEAD", `/deployments/${id}`);
    expect(found).toMatchObject({ status: 200, text: "" });
    expect(found.headers.get("content-type")).toBe("application/json");
    expect(await send("HEAD", "/services/Nope")).toMatchObject({ status: 404, text: "" });
  });

  test("a browser of another origin is not let in", async () => {
    const { send } = await setup();
    const { status, headers } = await send("OPTIONS", "/deployments", {
      headers: { origin: "http://x", "access-control-request-method": "POST" },
    });
    expect(status).toBe(405);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});
