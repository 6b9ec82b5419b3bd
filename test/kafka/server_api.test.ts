import { expect, test } from "vitest";
import { ServerApi } from "../../adapters/kafka/server_api.ts";
import type { RecordBatch } from "../../src/model/kafka.ts";

const BATCH: RecordBatch = {
  ...{ subscription: "s", group: "g", topic: "t", partition: 0 },
  next: 1,
  records: [],
};
const never = new AbortController().signal;
const PLAN = { version: "1", clusters: [], subscriptions: [] };

/** A sidecar's way to two servers. `answer`: what is at an address, if anything. */
function servers(answer: (url: URL) => Response | undefined) {
  const asked: string[] = [];
  const api = new ServerApi({
    urls: ["http://one", "http://two"],
    token: "a-token",
    ask: async (url: string) => {
      asked.push(new URL(url).hostname);
      const response = answer(new URL(url));
      if (!response) throw new TypeError("fetch failed");
      return response;
    },
  });
  return { api, asked };
}

test("requests that fail together go on to the next address together", async () => {
  const { api, asked } = servers(({ hostname }) =>
    hostname === "two" ? Response.json(PLAN) : undefined
  );
  const both = () => Promise.all([api.plan(undefined, never), api.records(BATCH, never)]);
  await both();
  expect(asked).toEqual(["one", "one"]);
  expect((await both())[0]).toEqual(PLAN);
  expect(asked.slice(2)).toEqual(["two", "two"]);
});

test("what fails late leaves no address that was tried meanwhile", async () => {
  const held: ((cause: Error) => void)[] = [];
  const asked: string[] = [];
  const api = new ServerApi({
    urls: ["http://one", "http://two", "http://three"],
    token: "a-token",
    ask: (url: string) => {
      asked.push(new URL(url).hostname);
      return new Promise((_, reject) => held.push(reject));
    },
  });
  const first = [api.plan(undefined, never), api.records(BATCH, never)];
  held.shift()?.(new TypeError("fetch failed"));
  await first[0];
  const second = api.plan(undefined, never);
  held.shift()?.(new TypeError("fetch failed"));
  await first[1];
  void api.records(BATCH, never);
  expect(asked).toEqual(["one", "one", "two", "two"]);
  held.shift()?.(new TypeError("fetch failed"));
  await second;
});

test.each([
  ["a page", () => new Response("<html>")],
  ["nothing", () => new Response("")],
  ["JSON of another kind", () => Response.json({ ok: true })],
])("an answer that is %s is a problem, not a plan", async (_, page) => {
  const { api } = servers(page);
  expect(await api.plan(undefined, never)).toEqual({
    problem: expect.stringContaining("The server answers 200"),
  });
  expect(await api.records(BATCH, never)).toEqual({
    kind: "refused",
    message: expect.stringContaining("The server answers 200"),
  });
  expect(await api.letters({ written: [], returned: [] }, never)).toBeUndefined();
});
