import { defineConfig } from "vitest/config";
import LongestFirst from "./sequencer.ts";
import { leftOut } from "./turns.ts";

/**
 * Folders whose files share processes and loaded modules: a process for each file costs a third of a
 * second of CPU. Their tests change nothing that others of their process see, open no port by number and
 * leave nothing behind.
 */
const SHARED = [
  "admin",
  "auth",
  "config",
  "engine",
  "http2",
  "ingress",
  "outbound",
  "partition",
  "placement",
  "storage",
  "wire",
].map((folder) => `test/${folder}/**/*.test.ts`);
const LEFT_OUT = [...leftOut(process.env), "**/node_modules/**"];

/** For a run of all tests. Single files run without it. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // On every machine servers have the layout that tests expect, unless a test names another.
    env: { SVC_DEFAULT_NUM_PARTITIONS: "1" },
    projects: [
      {
        extends: true,
        test: { name: "shared", include: SHARED, exclude: LEFT_OUT, isolate: false },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...SHARED, ...LEFT_OUT],
        },
      },
    ],
  },
});
