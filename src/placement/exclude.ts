import type { ReportingMember } from "./membership.ts";

/** A process with the number of pairs that it spoils, and of others that cannot reach it. */
interface Reachability {
  readonly node: ReportingMember;
  readonly broken: number;
  readonly accused: number;
  readonly held: number;
}

/**
 * Which processes are to have no partitions, because they and others cannot reach each other. The
 * rest all reach each other. Those who see the same rows come to the same answer: first is who has
 * the fewest broken pairs, then who is reached by more, then who has more partitions, so that in
 * doubt nothing moves. It is never all of them. What is decided so costs time if it is wrong, never
 * data: leases fence as ever.
 */
export function excluded(
  nodes: readonly ReportingMember[],
  owners: readonly (string | undefined)[],
): ReadonlySet<string> {
  const reachability = nodes.map((node): Reachability => ({
    node,
    broken: nodes.filter((other) => isBroken(node, other)).length,
    accused: nodes.filter((other) => lists(other, node)).length,
    held: owners.filter((owner) => owner === node.id).length,
  }));
  const together: ReportingMember[] = [];
  const out = new Set<string>();
  for (const { node } of reachability.sort(byMerit)) {
    if (together.some((other) => isBroken(node, other))) out.add(node.id);
    else together.push(node);
  }
  return out;
}

function byMerit(a: Reachability, b: Reachability): number {
  return a.broken - b.broken || a.accused - b.accused || b.held - a.held ||
    (a.node.id < b.node.id ? -1 : 1);
}

function isBroken(a: ReportingMember, b: ReportingMember): boolean {
  return a.id !== b.id && (lists(a, b) || lists(b, a));
}

function lists({ unreached }: ReportingMember, { id }: ReportingMember): boolean {
  return unreached?.includes(id) ?? false;
}
