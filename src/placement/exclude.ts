import type { ReportingMember } from "./membership.ts";

/** A member with the numbers of its broken pairs, of members that report it, and of its partitions. */
interface Reachability {
  readonly node: ReportingMember;
  readonly broken: number;
  readonly accused: number;
  readonly held: number;
}

/**
 * The members that get no partitions, because they and others cannot reach each other. All remaining
 * members reach each other. Members are kept in this order: fewest broken pairs, reached by most, most
 * partitions, so that few partitions move. So members that see the same rows decide the same, and at
 * least one member remains. A wrong decision costs time, never data: leases are still fenced.
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
