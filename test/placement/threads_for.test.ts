import { expect, test } from "vitest";
import { layoutOf, threadsFor, threadsOf } from "../../adapters/installation/threads.ts";
import { quotaOf, thisMachine } from "../../adapters/platform/machine.ts";
import { readConfig } from "../../src/config.ts";

const GIB = 1024 ** 3;
const machine = (cores: number, gib = 64) => ({ cores, memoryBytes: gib * GIB });
const config = (settings: Record<string, string> = {}) => readConfig({ env: settings });

test.each([
  [1, 64, 1],
  [2, 64, 1],
  [3.9, 64, 1],
  [4, 64, 2],
  [16, 64, 8],
  [16, 2, 2],
  [16, 0.5, 1],
])("%d cores and %d GiB are %d threads", (cores, gib, threads) => {
  expect(threadsFor(machine(cores, gib))).toBe(threads);
});

test.each<[string, Record<string, string>, number, number, "one" | "each"]>([
  ["nothing, on two cores", {}, 2, 1, "one"],
  ["nothing, on sixteen", {}, 16, 8, "each"],
  ["nothing, on very many", {}, 128, 16, "each"],
  ["threads", { SVC_THREADS: "3" }, 2, 3, "each"],
  ["one thread", { SVC_THREADS: "1" }, 16, 1, "one"],
  ["partitions", { SVC_DEFAULT_NUM_PARTITIONS: "5" }, 16, 5, "one"],
  ["a file for each", { SVC_STORAGE__DATABASES: "each" }, 16, 8, "each"],
  ["one file", { SVC_STORAGE__DATABASES: "one" }, 16, 1, "one"],
])("a new folder whose settings name %s", (_, env, cores, partitions, databases) => {
  expect(layoutOf(config(env), machine(cores))).toEqual({ partitions, databases });
});

test("a folder has one thread for each file at most", () => {
  const each = { partitions: 3, databases: "each" } as const;
  const one = { partitions: 3, databases: "one" } as const;
  expect(threadsOf(each, { threads: 0, machine: machine(4) })).toBe(2);
  expect(threadsOf(each, { threads: 0, machine: machine(64) })).toBe(3);
  expect(threadsOf(each, { threads: 1, machine: machine(64) })).toBe(1);
  expect(threadsOf(one, { threads: 4, machine: machine(64) })).toBe(1);
});

test("a container's quota of time is a number of cores", () => {
  expect(quotaOf("150000 100000\n")).toBe(1.5);
  expect(quotaOf("max 100000\n")).toBe(Infinity);
  expect(quotaOf("")).toBe(Infinity);
});

test("this machine has a core and memory", () => {
  const { cores, memoryBytes } = thisMachine();
  expect(cores).toBeGreaterThan(0);
  expect(memoryBytes).toBeGreaterThan(GIB / 16);
});
