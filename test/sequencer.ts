import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first: one that began last would run alone at the end. A fresh
 * clone knows no durations, and by itself vitest begins with the largest file.
 */
export const LONGEST = [
  "create/starters.test.ts",
  "crash/big.test.ts",
  "docs/pages.test.ts",
  "sim/simulate.test.ts",
  "crash/crash.test.ts",
  "ui/hostile.test.ts",
  "conformance/threads.test.ts",
  "ui/platforms.test.ts",
  "conformance/resources.test.ts",
  "conformance/data_damage.test.ts",
  "kafka/crash.test.ts",
  "storage/remote.test.ts",
  "kafka/sidecar_changes.test.ts",
  "kafka/serve_sidecar.test.ts",
  "conformance/workerd.test.ts",
  "kafka/facts_trouble.test.ts",
  "conformance/deno.test.ts",
  "crash/mixed.test.ts",
  "conformance/node.test.ts",
  "introspection/process.test.ts",
  "kafka/sidecar_crashes.test.ts",
  "tls/endpoints.test.ts",
  "conformance/node_partitions.test.ts",
  "kafka/crash_fleet.test.ts",
  "ui/home.test.ts",
  "examples/examples.test.ts",
];

/** Begins with the files that take longest. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(path.relative(import.meta.dirname, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
