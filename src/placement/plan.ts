/** Whose which partition is, as one process sees it. */
export interface Holdings {
  /** Who asks. */
  readonly me: string;
  /** Everybody who lives, in any order; who asks is among them. */
  readonly nodes: readonly string[];
  /** The owner of each partition, in order. One that is not among `nodes` is none. */
  readonly owners: readonly (string | undefined)[];
  /** Those of `nodes` that are to have none. Absent: nobody. */
  readonly excluded?: ReadonlySet<string>;
}

/** What one process should do, in numbers of partitions. */
export interface Plan {
  readonly claim: readonly number[];
  readonly release: readonly number[];
}

/**
 * What the asking process should claim and give back so that everybody has as many partitions as
 * everybody else, or one more. Those who see the same come to plans that go together: nothing is
 * claimed twice, nothing is left, and nothing moves that need not. What an excluded one has is
 * nobody's only once it has given it back.
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

/** Who holds most keeps the one more that not everybody can have. */
function setTargets(shares: readonly Share[], partitions: number): void {
  const least = Math.floor(partitions / shares.length);
  let more = partitions % shares.length;
  const byWealth = [...shares].sort((a, b) => b.held.length - a.held.length);
  for (const share of byWealth) share.target = least + (more-- > 0 ? 1 : 0);
}
