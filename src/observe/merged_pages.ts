import { printNumber } from "./exposition.ts";
import { METRICS } from "./metric_table.ts";

/** Of these the first page says all: they are of the process, or the same in each thread. */
const OF_THE_FIRST: ReadonlySet<string> = new Set([
  "perdure_build_info",
  "perdure_paused",
  "perdure_process_start_time_seconds",
  "perdure_process_cpu_seconds_total",
  "perdure_process_resident_memory_bytes",
  "perdure_process_open_fds",
  "perdure_process_max_fds",
  "perdure_process_threads",
]);
/** Of these the least counts: 1 says that something is so in each thread. */
const LEAST: ReadonlySet<string> = new Set(["perdure_invocations_counted", "perdure_partition_up"]);

/** A metric of a page: its description, and its samples by name and labels. */
interface Family {
  readonly head: readonly string[];
  readonly samples: Map<string, number>;
}

/**
 * One page of the pages of several threads of a process (`metricsText`): samples of the same name and
 * labels are added up, but for those of the process. Metrics are in the order of the table.
 */
export function mergedPages([first = "", ...others]: readonly string[]): string {
  const merged = read(first);
  for (const page of others) {
    for (const [name, family] of read(page)) {
      const known = merged.get(name);
      if (!known) merged.set(name, family);
      else if (!OF_THE_FIRST.has(name)) add(known, family, LEAST.has(name) ? Math.min : sum);
    }
  }
  const families = Object.keys(METRICS).flatMap((name) => merged.get(name) ?? []);
  const lines = families.flatMap(({ head, samples }) => [
    ...head,
    ...[...samples].map(([sample, value]) => `${sample} ${printNumber(value)}`),
  ]);
  return `${lines.join("\n")}\n`;
}

const sum = (a: number, b: number) => a + b;

function add({ samples }: Family, other: Family, join: (a: number, b: number) => number): void {
  for (const [sample, value] of other.samples) {
    const known = samples.get(sample);
    samples.set(sample, known === undefined ? value : join(known, value));
  }
}

const HELP = "# HELP ";

function read(page: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let family: Family & { readonly head: string[] } = { head: [], samples: new Map() };
  for (const line of page.split("\n")) {
    if (line.startsWith(HELP)) {
      family = { head: [line], samples: new Map() };
      families.set(line.slice(HELP.length, line.indexOf(" ", HELP.length)), family);
    } else if (line.startsWith("#")) family.head.push(line);
    else if (line !== "") {
      const at = line.lastIndexOf(" ");
      family.samples.set(line.slice(0, at), Number(line.slice(at + 1).replace("Inf", "Infinity")));
    }
  }
  return families;
}
