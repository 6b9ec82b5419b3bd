import { expect } from "vitest";
import { type Answer, request } from "./_ask.ts";
import { startSdk } from "./_sdk.ts";
import { type Check, protocolSuite, registered, type World } from "./_suite.ts";

/** Has the endpoint apply a serde of `Shouting`; a text is sent as bytes of no announced type. */
function apply(
  { target, named }: Pick<World, "target" | "named">,
  serde: string,
  { text, query }: { readonly text: string; readonly query?: string },
): Promise<Answer & { readonly text: string }> {
  return applyTo(
    `${target.admin}/internal/services/${named("Shouting")}/serdes/${serde}`,
    text,
    query,
  );
}

async function applyTo(url: string, text: string, query = ""): Promise<Answer & { text: string }> {
  const init = { method: "POST", body: new TextEncoder().encode(text) };
  const response = await fetch(`${url}?${query}`, init);
  const { status, headers } = response;
  const body = await response.text();
  return { status, headers, text: body, body: body.startsWith("{") ? JSON.parse(body) : undefined };
}

const applied: Check = async (world) => {
  const decoded = await apply(world, "decode/greet/input", { text: "HELLO" });
  expect([decoded.status, decoded.text]).toEqual([200, '{"text":"hello"}']);
  const encoded = await apply(world, "encode/greet/output", { text: '{"text":"hello"}' });
  expect([encoded.status, encoded.text]).toEqual([200, "HELLO"]);
  const path = `/serdes/${world.named("Shouting")}/encode/greet/output`;
  const asked = world.endpoint.attempts().find((one) => one.path === path);
  expect(asked?.headers).toMatchObject({
    "content-type": "application/json",
    "x-restate-serdes-protocol": "v1",
  });
};

const refused: Check = async (world) => {
  for (
    const [serde, text, status, told] of [
      ["decode/greet/input", "STOP", "422 Unprocessable Entity", "it cannot be shown"],
      ["encode/greet/input", "{", "422 Unprocessable Entity", "JSON"],
      ["decode/plain/input", "1", "404", "No previewable serde found"],
      ["decode/nope", "1", "404", "No previewable serde found"],
    ] as const
  ) {
    const { status: is, body } = await apply(world, serde, { text });
    expect([is, body]).toMatchObject([500, { [`${world.target.word}_code`]: null }]);
    const { message } = body as { message: string };
    expect(message).toContain(`got status code '${status}`);
    expect(message).toContain(told);
  }
};

const unknown: Check = async ({ target }) => {
  const services = `${target.admin}/internal/services`;
  const { status, body } = await applyTo(`${services}/Nope/serdes/decode/greet/input`, "1");
  expect([status, body]).toMatchObject([404, {
    message: "The requested service 'Nope' does not exist",
  }]);
  for (const path of ["decode", "decode/", "other/greet/input"]) {
    expect((await applyTo(`${services}/Nope/serdes/${path}`, "1")).status).toBe(404);
  }
  expect((await request("GET", `${services}/Nope/serdes/decode/greet/input`)).status).toBe(405);
};

const chosen: Check = async (world) => {
  const { target, transport, id } = world;
  const suffix = `_${id.replaceAll("-", "_")}`;
  const [old, latest] = await Promise.all([1, 2].map(() => startSdk({ transport, suffix })));
  if (!old || !latest) throw new Error("No endpoints");
  try {
    const deployment = await registered(target, old);
    await registered(target, latest);
    const where = { target, named: (service: string) => `${service}${suffix}` };
    const text = "HELLO";
    expect((await apply(where, "decode/greet/input", { text })).status).toBe(200);
    expect([old.attempts(), latest.attempts()].map((some) => some.length)).toEqual([1, 2]);
    const query = `deployment=${deployment}`;
    expect((await apply(where, "decode/greet/input", { text, query })).status).toBe(200);
    expect([old.attempts(), latest.attempts()].map((some) => some.length)).toEqual([2, 2]);
    for (const [one, status] of [["dp_16lq9KEFemrppKnYdVPzpTj", 404], ["latest", 400]] as const) {
      const wrong = { text, query: `deployment=${one}` };
      expect((await apply(where, "decode/greet/input", wrong)).status).toBe(status);
    }
    await Promise.all([old.stop(), latest.stop()]);
    const gone = await apply(where, "decode/greet/input", { text });
    expect(gone.status).toBe(500);
    expect((gone.body as { message: string }).message).toContain("error when calling 'http://");
  } finally {
    await Promise.all([old.close(), latest.close()]);
  }
};

protocolSuite("serdes for previews", {
  "91 stored bytes are made JSON, and JSON bytes, by the service's own serde": applied,
  "91b what the endpoint refuses is told with its status and its words": refused,
  "91c an unknown service, and what is no operation, is not found": unknown,
  "91d the latest deployment is asked, unless another one is named": chosen,
});
