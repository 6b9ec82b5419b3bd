import { describe, expect, test } from "vitest";
import { discovered, FakeStore, refusal, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

describe("more requests at once than allowed", () => {
  test("are refused until one is over", async () => {
    const { register, get, endpoints } = await setup(new FakeStore(), { requestsMax: 2 });
    let answer = (_found: ReturnType<typeof discovered>) => {};
    endpoints.set(uri, new Promise((resolve) => answer = resolve));
    const [one, two] = [register({ uri }), register({ uri: "http://localhost:1/" })];
    const message = "too many requests, the admin interface is overloaded. Retry later";
    expect(await get("/services")).toMatchObject({ status: 429, json: refusal(null, message) });
    expect((await two).json.svc_code).toBe("META0003");
    expect((await get("/services")).status).toBe(200);
    answer(discovered([]));
    expect((await one).status).toBe(201);
  });
});

describe("the cluster", () => {
  test("is this process", async () => {
    const { get } = await setup();
    for (const path of ["/cluster-health", "/v2/cluster-health"]) {
      expect(await get(path)).toMatchObject({
        status: 200,
        json: { cluster_name: "testing", metadata_cluster_health: { members: [1] } },
      });
    }
  });
});
