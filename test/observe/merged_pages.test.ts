import { expect, test } from "vitest";
import { Exposition } from "../../src/observe/exposition.ts";
import { Histogram } from "../../src/observe/histogram.ts";
import { mergedPages } from "../../src/observe/merged_pages.ts";
import { METRICS } from "../../src/observe/metric_table.ts";

function page(requests: number, isCounted: boolean, cpu: number): string {
  const text = new Exposition(METRICS);
  text.family("perdure_build_info").sample(1, { version: "1" });
  text.family("perdure_invocations_counted").sample(isCounted ? 1 : 0);
  const labels = { interface: "ingress", route: "a b", status: "200" };
  text.family("perdure_requests_total").sample(requests, labels);
  if (requests > 1) text.sample(1, { ...labels, status: "404" });
  const histogram = new Histogram([1, 2]);
  histogram.add(requests);
  text.family("perdure_commit_rows").histogram(histogram);
  text.family("perdure_process_cpu_seconds_total").sample(cpu);
  return text.toString();
}

test("samples of threads are added up, and what the process is is said once", () => {
  const merged = mergedPages([page(1, true, 5), page(2, false, 6)]);
  const valueOf = (sample: string) => {
    const lines = merged.split("\n").filter((line) => line.startsWith(`${sample} `));
    expect(lines, sample).toHaveLength(1);
    return lines[0]!.slice(sample.length + 1);
  };
  expect(valueOf('perdure_build_info{version="1"}')).toBe("1");
  expect(valueOf("perdure_invocations_counted")).toBe("0");
  const requests = 'perdure_requests_total{interface="ingress",route="a b"';
  expect(valueOf(`${requests},status="200"}`)).toBe("3");
  expect(valueOf(`${requests},status="404"}`)).toBe("1");
  expect(valueOf('perdure_commit_rows_bucket{le="1"}')).toBe("1");
  expect(valueOf('perdure_commit_rows_bucket{le="+Inf"}')).toBe("2");
  expect(valueOf("perdure_commit_rows_sum")).toBe("3");
  expect(valueOf("perdure_process_cpu_seconds_total")).toBe("5");
});

test("one page stays as it is", () => {
  expect(mergedPages([page(1, true, 5)])).toBe(page(1, true, 5));
});

test("what only a later page has is in its place", () => {
  const [, , ...rest] = page(1, true, 5).split("\n");
  const merged = mergedPages([rest.slice(1).join("\n"), page(1, true, 5)]);
  expect(merged.split("\n")[2]).toBe('perdure_build_info{version="1"} 1');
});
