// The same workload on several servers in turns, medians of some rounds, and ratios.
import * as targets from "./semantics_targets.mjs";

const WARM_UP_SECONDS = 2;

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** One round: `workload` for so many seconds, with the CPU time and memory of the server. */
export async function measure(workload, target, seconds) {
  const before = targets.cpuUs(target), endpointBefore = targets.endpointUs();
  const { requests, us, ...seen } = await workload(target, seconds);
  const cpuUs = (targets.cpuUs(target) - before) / Math.max(1, requests);
  const endpointUs = (targets.endpointUs() - endpointBefore) / Math.max(1, requests);
  return { rps: requests / (us / 1e6), ...seen, cpuUs, endpointUs, rss: targets.rssMiB(target) };
}

/** The medians of several rounds, and the sum of their errors. */
export function mediansOf(figures) {
  const of = (key) => median(figures.map((one) => one[key]));
  const errors = figures.reduce((total, one) => total + one.errors, 0);
  const keys = ["rps", "p50", "p99", "cpuUs", "endpointUs", "rss"];
  return { ...Object.fromEntries(keys.map((key) => [key, of(key)])), errors };
}

/** Medians by the name of the target. */
export async function compare(workload, all, { rounds, seconds }) {
  const seen = new Map(all.map((target) => [target.name, []]));
  for (const target of all) await workload(target, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    // In turns: who goes first changes from round to round.
    for (const target of round % 2 ? all.toReversed() : all) {
      seen.get(target.name).push(await measure(workload, target, seconds));
    }
  }
  return Object.fromEntries([...seen].map(([name, figures]) => [name, mediansOf(figures)]));
}

const partOf = (title, { rps, p50, p99, cpuUs, endpointUs, rss, errors }) =>
  `${title}: ${rps.toFixed(0)} rps p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms, ` +
  `${cpuUs.toFixed(0)} us cpu/req (endpoint ${endpointUs.toFixed(0)}), ${
    rss.toFixed(0)
  } MiB, ${errors} errors`;

/** A line of what `compare` answers. */
export function sentence({ ours, reference }) {
  if (!reference) return partOf("ours", ours);
  const ratio = (key) => (ours[key] / reference[key]).toFixed(2);
  const ratios = `ratio rps ${ratio("rps")}x cpu ${ratio("cpuUs")}x rss ${ratio("rss")}x`;
  return [partOf("ours", ours), partOf("reference", reference), ratios].join(" | ");
}
