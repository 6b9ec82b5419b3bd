import { expect } from "vitest";
import { call, send, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import type { Promises } from "./_suite.ts";

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

  "sends one way, and the handler runs once": async ({ server, endpoint, id }) => {
    const { status, headers, body } = await send(server, "Greeter/note", id);
    expect(status).toBe(202);
    expect(body).toEqual({ invocationId: headers.get("x-svc-id"), status: "Accepted" });
    await endpoint.happens(id);
    await value(server, "Greeter/greet", id);
    expect(endpoint.count(id)).toBe(1);
  },

  "sends with a delay, and never before it is over": async ({ server, endpoint, id }) => {
    const due = Date.now() + 400;
    const { status, body } = await send(server, "Greeter/note", id, { query: "delay=400ms" });
    expect(status).toBe(202);
    const { executionTime } = body as { executionTime: string };
    expect(Math.abs(Date.parse(executionTime) - due)).toBeLessThan(300);
    await until("the delayed one", () => {
      const happened = endpoint.count(id) > 0;
      if (happened) expect(Date.now()).toBeGreaterThanOrEqual(due);
      return happened;
    });
  },

  "runs a handler once for one idempotency key": async ({ server, endpoint, id }) => {
    const headers = { "idempotency-key": id };
    const ask = () => call(server, "Greeter/note", id, { headers });
    const answers = await Promise.all([ask(), ask(), ask()]);
    const last = await ask();
    const ids = [...answers, last].map((answer) => answer.headers.get("x-svc-id"));
    expect(new Set(ids).size).toBe(1);
    expect(last.status).toBe(200);
    expect(endpoint.count(id)).toBe(1);
    const { body } = await send(server, "Greeter/note", id, { headers });
    expect(body).toMatchObject({ invocationId: ids[0], status: "PreviouslyAccepted" });
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

  "retries a failing handler until it succeeds": async ({ server, endpoint, id }) => {
    expect(await value(server, "Greeter/flaky", { id, failures: 3 })).toBe(4);
    expect(endpoint.count(`${id} attempt`)).toBe(4);
  },
};
