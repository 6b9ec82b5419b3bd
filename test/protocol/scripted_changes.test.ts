import { expect } from "vitest";
import type { Json, Script } from "./_script.ts";
import { line, stage } from "./_script_stage.ts";

// Changes of what is registered, as callers see them (http-api §3.4, §3.5).

const { play, target } = stage();

const anything = {
  input: { required: false, contentType: "*/*" },
  output: { contentType: "text/plain" },
};

/** A registered service `name` with these handlers, which answer "done". */
function serving(name: string, of: Json, handlers: readonly Json[]): Promise<Script> {
  const service = {
    name,
    ty: "SERVICE",
    handlers: handlers.map((one) => ({ ...anything, ...one })),
  };
  const discover = (_: number, manifest: Json) => ({
    body: { ...manifest, services: [{ ...service, ...of }] },
  });
  return play({ discover }, async (attempt) => {
    await attempt.replay();
    await attempt.succeed("done");
  });
}

async function change(path: string, body: Json): Promise<Json> {
  const headers = { "content-type": "application/json" };
  const init = { method: "PATCH", headers, body: JSON.stringify(body) };
  const response = await fetch(`${target().admin}${path}`, init);
  expect(response.status).toBe(200);
  return await response.json() as Json;
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
    const script = await serving(name, { ingressPrivate: true }, [
      { name: "silent" },
      { name: "hidden", ingressPrivate: true },
    ]);
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
    const script = await serving(name, {}, [
      { name: "silent" },
      { name: "hidden", ingressPrivate: true },
      { name: "shown", ingressPrivate: false },
    ]);
    expect(await open(script, name)).toEqual({ silent: true, hidden: false, shown: true });
    await change(`/services/${name}`, { public: false });
    expect(await open(script, name)).toEqual({ silent: false, hidden: false, shown: true });
    await change(`/services/${name}`, { public: true });
    expect(await open(script, name)).toEqual({ silent: true, hidden: false, shown: true });
  },
);
