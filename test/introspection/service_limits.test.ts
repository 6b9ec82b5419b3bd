import { afterAll, beforeAll, expect, test } from "vitest";
import type { Introspection } from "../../src/query_port.ts";
import { Stored } from "./_queued.ts";
import { rowsOf } from "./_small.ts";
import { Asking, Files, inFile } from "./_united.ts";

// What operators have limited and paused, in the tables of services and deployments.

const stored = new Stored();
stored.deployment("dp_one", ["Free", "Pay"], 1);
stored.deployment("dp_two", ["Pay", "Still"], 2);
stored.paused("deployment", "dp_one");
stored.service("Pay", {
  limits: { concurrency: 10, rate: { count: 100, periodMs: 60_000, burst: 20 } },
  handlers: {
    "a.b": { concurrency: 2 },
    refund: { rate: { count: 3, periodMs: 1000 } },
  },
});
stored.service("Still", { paused: true });
stored.service("Unregistered", { paused: true });

const files = new Files();
const asking = new Asking();
const open: Record<string, Introspection> = {};

beforeAll(async () => {
  open["one file"] = asking.open([inFile(await files.make("all.db", stored.rows()))]);
  const parts: string[] = [];
  for (let i = 0; i < 2; i++) parts.push(await files.make(`${i}.db`, stored.rows(i, 2)));
  open["two files"] = asking.open(parts.map(inFile));
}, 30_000);

afterAll(async () => {
  await asking.close();
  await files.close();
});

test.each(["one file", "two files"])("limits and pauses are columns, of %s", async (from) => {
  const services = `select name, paused, concurrency, rate_count, rate_period, rate_burst,
    handler_limits from sys_service order by name`;
  expect(await rowsOf(open[from]!, services)).toEqual([
    { name: "Free", paused: false },
    {
      name: "Pay",
      paused: false,
      concurrency: 10,
      rate_count: 100,
      rate_period: "PT60S",
      rate_burst: 20,
      handler_limits: '{"a.b":{"concurrency":2},"refund":{"rate_count":3,"rate_period_ms":1000}}',
    },
    { name: "Still", paused: true },
  ]);
  const deployments = "select id, paused from sys_deployment order by id";
  expect(await rowsOf(open[from]!, deployments)).toEqual([
    { id: "dp_one", paused: true },
    { id: "dp_two", paused: false },
  ]);
  const paused = "select name from sys_service where paused and rate_count is null";
  expect(await rowsOf(open[from]!, paused)).toEqual([{ name: "Still" }]);
});
