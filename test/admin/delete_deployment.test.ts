import { describe, expect, test } from "vitest";
import { discovered, FakeStore, refusal, service, setup } from "./_setup.ts";

const [first, second] = ["http://localhost:9080/", "http://localhost:9081/"];

/** `A` on both deployments, `B` only on the second one. */
async function withTwo(pinned?: Map<string, number>) {
  const all = await setup(new FakeStore(), pinned ? { pinned } : {});
  all.endpoints.set(first, discovered([service("A")]));
  all.endpoints.set(second, discovered([service("A"), service("B")]));
  const older: string = (await all.register({ uri: first })).json.id;
  const newer: string = (await all.register({ uri: second })).json.id;
  const remove = (id: string, query = "?force=true") =>
    all.send("DELETE", `/deployments/${id}${query}`);
  return { ...all, older, newer, remove };
}

describe("DELETE of a deployment", () => {
  test("moves its services to the newest deployment that has them, or ends them", async () => {
    const { get, older, newer, remove, store, registry } = await withTwo();
    expect(await remove(newer)).toMatchObject({ status: 202, text: "" });
    expect((await get("/services/A")).json).toMatchObject({ deployment_id: older, revision: 1 });
    expect((await get("/services/B")).status).toBe(404);
    expect((await get(`/deployments/${newer}`)).status).toBe(404);
    expect([...store.rows.keys()]).toEqual([older]);
    expect(registry.list()).toHaveLength(1);
  });

  test("lets its address be registered again, as another deployment", async () => {
    const { newer, remove, register } = await withTwo();
    await remove(newer);
    const { status, json } = await register({ uri: second });
    expect(status).toBe(201);
    expect(json.id).not.toBe(newer);
    expect(json.services).toMatchObject([{ name: "A", revision: 2 }, { name: "B", revision: 1 }]);
  });

  test("without force is refused, naming what needs it", async () => {
    const { newer, older, remove, registry } = await withTwo();
    for (const query of ["", "?force=false"]) {
      expect(await remove(newer, query)).toMatchObject({
        status: 409,
        json: refusal(
          null,
          `Cannot delete deployment '${newer}': it serves the latest revision of 'A', 'B'; ` +
            "repeat with 'force=true'",
        ),
      });
      expect(await remove(older, query)).toMatchObject({
        status: 409,
        json: refusal(
          null,
          `Cannot delete deployment '${older}': invocations may still be pinned to it; ` +
            "repeat with 'force=true'",
        ),
      });
    }
    expect(registry.list()).toHaveLength(2);
  });

  test("without force is done when nothing needs it", async () => {
    const pinned = new Map<string, number>();
    const { older, newer, remove, registry } = await withTwo(pinned);
    pinned.set(older, 3);
    expect(await remove(older, "")).toMatchObject({
      status: 409,
      json: refusal(
        null,
        `Cannot delete deployment '${older}': 3 invocations are still pinned to it; ` +
          "repeat with 'force=true'",
      ),
    });
    expect((await remove(newer, "")).json.message).toContain("latest revision of 'A', 'B'");
    pinned.clear();
    expect(await remove(older, "")).toMatchObject({ status: 202, text: "" });
    expect(registry.list().map(({ id }) => id)).toEqual([newer]);
  });

  test("is refused for one that does not exist, an id that is none, a flag that is none", async () => {
    const { newer, remove } = await withTwo();
    await remove(newer);
    for (const query of ["", "?force=true"]) {
      expect(await remove(newer, query)).toMatchObject({
        status: 404,
        json: refusal(null, `The requested deployment '${newer}' does not exist`),
      });
    }
    expect(await remove("foo")).toMatchObject({
      status: 400,
      json: refusal(null, "Cannot parse deployment id 'foo': bad format"),
    });
    expect(await remove(newer, "?force=1")).toMatchObject({
      status: 400,
      json: refusal(
        null,
        "The query parameter 'force' is invalid. Reason: expected 'true' or 'false'",
      ),
    });
  });

  test("is not answered before it is stored", async () => {
    const { newer, remove, store, get } = await withTwo();
    let open = () => {};
    store.gate = new Promise((resolve) => open = resolve);
    const removed = remove(newer);
    for (let i = 0; i < 50; i++) await Promise.resolve();
    expect((await get(`/deployments/${newer}`)).status).toBe(200);
    open();
    expect((await removed).status).toBe(202);
  });

  test("that fails is answered with 503, and what became of it is found out", async () => {
    const { newer, remove, store, registry, logged } = await withTwo();
    store.faults.push("refuse");
    const { status, json } = await remove(newer);
    expect(status).toBe(503);
    expect(json).toEqual(
      refusal(null, "Cannot delete a deployment: the store cannot be written"),
    );
    expect(logged).toMatchObject([{ level: "warn", fields: { cause: "the disk is on fire" } }]);
    expect(registry.list()).toHaveLength(2);

    store.faults.push("lose the answer");
    expect((await remove(newer)).status).toBe(503);
    expect((await remove(newer)).status).toBe(404);
    expect(registry.list()).toHaveLength(1);
  });

  test("takes turns with registrations of the same address", async () => {
    const { newer, remove, register, registry } = await withTwo();
    const answers = await Promise.all([register({ uri: second }), remove(newer), remove(newer)]);
    expect(answers.map(({ status }) => status).slice(1).sort()).toEqual([202, 404]);
    expect([200, 201]).toContain(answers[0].status);
    expect(registry.list()).toHaveLength(answers[0].status === 201 ? 2 : 1);
  });
});
