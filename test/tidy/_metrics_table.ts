import { METRICS } from "../../src/observe/metric_table.ts";

/** The table of metrics in docs/metrics.md. A test keeps the two the same. */
export function describeMetrics(): string {
  const rows = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
    const list = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${list} | ${help} |`;
  });
  return ["| Metric | Type | Labels | Meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
