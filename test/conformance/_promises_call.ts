import { expect } from "vitest";
import { call, value } from "../support/client.ts";
import type { Promises } from "./_world.ts";

export const callPromises: Promises = {
  "calls a handler and answers what it returned": async ({ server, id }) => {
    const { status, headers, body } = await call(server, "Greeter/greet", id);
    expect([status, body]).toEqual([200, `Hello ${id}`]);
    expect(headers.get("x-svc-id")).toMatch(/^inv_1/);
    expect(headers.get("content-type")).toBe("application/json");
  },

  "answers nothing for a handler that returns nothing": async ({ server }) => {
    const { status, headers, body } = await call(server, "Greeter/nothing");
    expect([status, body, headers.get("content-type")]).toEqual([200, undefined, null]);
  },

  "answers two hundred callers at once": async ({ server, id }) => {
    const names = Array.from({ length: 200 }, (_, i) => `${id} ${i}`);
    const answers = await Promise.all(names.map((name) => value(server, "Greeter/greet", name)));
    expect(answers).toEqual(names.map((name) => `Hello ${name}`));
  },

  "passes bytes as they are, half a megabyte of them": async ({ server }) => {
    const bytes = Uint8Array.from({ length: 500_000 }, (_, i) => (i * 31) & 255);
    const response = await fetch(`${server.ingress}/svc/call/Greeter/bytes`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: bytes,
    });
    expect(response.status).toBe(200);
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), Buffer.from(bytes))).toBe(0);
  },

  "passes headers on": async ({ server, id }) => {
    const { body } = await call(server, "Greeter/headers", undefined, { headers: { "x-one": id } });
    expect(body).toMatchObject({ "x-one": id });
  },

  "tells the caller of a terminal error, with its code": async ({ server, id }) => {
    const { status, headers, body } = await call(server, "Greeter/refuse", id);
    expect(status).toBe(418);
    expect(headers.get("x-svc-error-source")).toBe("invocation");
    expect(body).toMatchObject({ code: 418, message: id, source: "invocation" });
  },

  "goes on when the caller hangs up": async ({ server, endpoint, id }) => {
    const caller = new AbortController();
    const answer = call(server, "Greeter/hang", id, { signal: caller.signal })
      .then(() => "answered", () => "gone");
    await endpoint.happens(`${id} hang`);
    caller.abort();
    expect(await answer).toBe("gone");
    endpoint.release(id);
    await value(server, "Greeter/greet", id);
    expect(endpoint.count(`${id} hang`)).toBe(1);
  },

  "calls handlers from handlers, many at once": async ({ server, id }) => {
    const names = Array.from({ length: 30 }, (_, i) => `${id}-${i}`);
    const answers = await value(server, "Greeter/fan", names);
    expect(answers).toEqual(names.map((name) => `Hello ${name}`));
  },

  "lets a handler catch the terminal error of one it called": async ({ server, id }) => {
    expect(await value(server, "Greeter/callRefused", id)).toBe(`caught 418 ${id}`);
  },

  "lets a handler wait for whatever comes first": async ({ server, endpoint, id }) => {
    expect(await value(server, "Greeter/race", { id, ms: 600 })).toBe("sleep");
    await endpoint.happens(`${id} after`);
  },
};
