import { expect } from "vitest";
import type { Json, Script } from "./_script.ts";
import { line, stage } from "./_script_stage.ts";

// Changes of what is registered, as callers see them (docs/spec/admin.md#update-of-a-deployment).

const { play, target } = stage();

const anything = {
  input: { required: false, contentType: "*/*" },
  output: { contentType: "text/plain" },
};

/** A plain service with handlers that take anything, as a manifest has it. */
function described(name: string, handlers: readonly Json[], more: Json = {}): Json {
  const full = handlers.map((one) => ({ ...anything, ...one }));
  return { name, ty: "SERVICE", handlers: full, ...more };
}

/** A registered endpoint whose handlers answer "done". `serves` is asked at every discovery. */
function serving(serves: (count: number) => readonly Json[]): Promise<Script> {
  const discover = (count: number, manifest: Json) => ({
    body: { ...manifest, services: serves(count) },
  });
  return play({ discover }, async (attempt) => {
    await attempt.replay();
    await attempt.succeed("done");
  });
}

async function change(path: string, body: Json, method = "PATCH"): Promise<Json> {
  const headers = { "content-type": "application/json" };
  const init = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${target().admin}${path}`, init);
  expect(response.status).toBe(200);
  return await response.json() as Json;
}

async function deployments(): Promise<{ readonly id: string; readonly uri: string }[]> {
  const response = await fetch(`${target().admin}/deployments`);
  return (await response.json() as { deployments: { id: string; uri: string }[] }).deployments;
}

/** By name: whether a handler is shown as public, after its call was answered accordingly. */
async function open(script: Script, name: string): Promise<Json> {
  const response = await fetch(`${target().admin}/services/${name}`);
  const { handlers } = await response.json() as { handlers: { name: string; public: boolean }[] };
  for (const one of handlers) {
    const { status, text } = await script.call(`${name}/${one.name}`);
    expect([status, text]).toEqual(
      one.public ? [200, "done"] : [400, expect.stringContaining("is not public")],
    );
  }
  return Object.fromEntries(handlers.map((one) => [one.name, one.public]));
}

line(
  "15c given a private service, when made public, then its handlers are, but private ones",
  async () => {
    const name = "Inner";
    const handlers = [{ name: "silent" }, { name: "hidden", ingressPrivate: true }];
    const script = await serving(() => [described(name, handlers, { ingressPrivate: true })]);
    expect(await open(script, name)).toEqual({ silent: false, hidden: false });
    expect(await change(`/services/${name}`, { public: true })).toMatchObject({ public: true });
    expect(await open(script, name)).toEqual({ silent: true, hidden: false });
    // The endpoint has not changed, so registering it again undoes nothing.
    expect((await script.register()).status).toBe(200);
    expect(await open(script, name)).toEqual({ silent: true, hidden: false });
    expect(await change(`/services/${name}`, { public: false })).toMatchObject({ public: false });
    expect(await open(script, name)).toEqual({ silent: false, hidden: false });
  },
);

line(
  "15d given a public service, when made private, then handlers declared public stay so",
  async () => {
    const name = "Outer";
    const script = await serving(() => [
      described(name, [
        { name: "silent" },
        { name: "hidden", ingressPrivate: true },
        { name: "shown", ingressPrivate: false },
      ]),
    ]);
    expect(await open(script, name)).toEqual({ silent: true, hidden: false, shown: true });
    await change(`/services/${name}`, { public: false });
    expect(await open(script, name)).toEqual({ silent: false, hidden: false, shown: true });
    await change(`/services/${name}`, { public: true });
    expect(await open(script, name)).toEqual({ silent: true, hidden: false, shown: true });
  },
);

line("15e given a handler that is new at the endpoint, when PUT, then it answers", async () => {
  const name = "Growing", fresh = "Fresh";
  const script = await serving((count) =>
    count === 1
      ? [described(name, [{ name: "old" }])]
      : [described(name, [{ name: "old" }, { name: "added" }]), described(fresh, [{ name: "run" }])]
  );
  const [{ id } = { id: "" }] = (await deployments()).filter(({ uri }) =>
    uri.startsWith(script.url)
  );
  expect((await script.call(`${name}/added`)).status).toBe(404);
  await change(`/deployments/${id}`, { additional_headers: { a: "b" } });
  expect((await script.call(`${name}/added`)).status).toBe(404);
  expect(await change(`/deployments/${id}`, {}, "PUT")).toMatchObject({
    id,
    additional_headers: { a: "b" },
    services: expect.arrayContaining([expect.objectContaining({ name: fresh, revision: 1 })]),
  });
  for (const path of [`${name}/old`, `${name}/added`, `${fresh}/run`]) {
    expect(await script.call(path)).toMatchObject({ status: 200, text: "done" });
  }
});
