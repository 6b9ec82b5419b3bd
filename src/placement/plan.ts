/** The members and the owners of partitions, as one member sees them. */
export interface Holdings {
  /** The id of the member that plans. */
  readonly me: string;
  /** All live members, in any order, with `me`. */
  readonly nodes: readonly string[];
  /** The owner of each partition, in order. An owner that is not among `nodes` counts as none. */
  readonly owners: readonly (string | undefined)[];
  /** Members that get no partitions. Absent: none. */
  readonly excluded?: ReadonlySet<string>;
}

/** The partitions that one member should claim and release. */
export interface Plan {
  readonly claim: readonly number[];
  readonly release: readonly number[];
}

/**
 * The partitions that member `me` should claim and release so that all members have equally many, or
 * one more. The plans of members that see the same state are consistent: no partition is claimed twice,
 * none remains without an owner, and none moves without need. A partition of an excluded member has no
 * owner only after that member has released it.
 */
export function plan({ me, nodes, owners, excluded = NOBODY }: Holdings): Plan {
  const shares = new Map<string, Share>(
    [...nodes].sort().map((node) => [node, { held: [], target: 0 }]),
  );
  const orphans: number[] = [];
  for (const [partition, owner] of owners.entries()) {
    const share = owner === undefined ? undefined : shares.get(owner);
    if (share) share.held.push(partition);
    else orphans.push(partition);
  }
  const entitled = [...shares].filter(([node]) => !excluded.has(node)).map(([, share]) => share);
  setTargets(entitled, owners.length);
  let claim: readonly number[] = [];
  for (const [node, { held, target }] of shares) {
    const due = orphans.splice(0, Math.max(0, target - held.length));
    if (node === me) claim = due;
  }
  const mine = shares.get(me);
  return { claim, release: mine ? mine.held.slice(mine.target) : [] };
}

const NOBODY: ReadonlySet<string> = new Set();

interface Share {
  readonly held: number[];
  target: number;
}

/** Members that hold most get the additional partition where the number does not divide evenly. */
function setTargets(shares: readonly Share[], partitions: number): void {
  const least = Math.floor(partitions / shares.length);
  let more = partitions % shares.length;
  const byWealth = [...shares].sort((a, b) => b.held.length - a.held.length);
  for (const share of byWealth) share.target = least + (more-- > 0 ? 1 : 0);
}
