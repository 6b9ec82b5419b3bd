/** A member of a consumer group, and the topics that it asks for. */
export interface GroupMember {
  readonly id: string;
  readonly topics: readonly string[];
}

/** How many partitions each topic has. */
export type PartitionCounts = ReadonlyMap<string, number>;

/** Partitions by topic, by member. */
export type Assignment = Record<string, Record<string, number[]>>;

/**
 * The strategy `range` of librdkafka and the Java client: the members of each topic, by their ids, get
 * neighbouring partitions, the first ones one more where it does not come out even.
 */
export function assignRange(members: readonly GroupMember[], counts: PartitionCounts): Assignment {
  const assignment = emptyFor(members);
  for (const [topic, count] of counts) {
    const takers = takersOf(topic, members);
    let partition = 0;
    for (const [index, { id }] of takers.entries()) {
      const share = Math.floor(count / takers.length) + (index < count % takers.length ? 1 : 0);
      for (let taken = 0; taken < share; taken++) give(assignment, id, topic, partition++);
    }
  }
  return assignment;
}

/** The strategy `roundrobin`: all partitions of all topics go to the members in turn. */
export function assignRoundRobin(
  members: readonly GroupMember[],
  counts: PartitionCounts,
): Assignment {
  const assignment = emptyFor(members);
  const ordered = [...members].sort(byId);
  let turn = 0;
  for (const [topic, count] of [...counts].sort(([one], [other]) => one < other ? -1 : 1)) {
    if (takersOf(topic, members).length === 0) continue;
    for (let partition = 0; partition < count; partition++) {
      while (!ordered[turn % ordered.length]?.topics.includes(topic)) turn++;
      give(assignment, ordered[turn++ % ordered.length]!.id, topic, partition);
    }
  }
  return assignment;
}

function emptyFor(members: readonly GroupMember[]): Assignment {
  return Object.fromEntries(members.map(({ id }) => [id, {}]));
}

function takersOf(topic: string, members: readonly GroupMember[]): GroupMember[] {
  return members.filter(({ topics }) => topics.includes(topic)).sort(byId);
}

function byId({ id: one }: GroupMember, { id: other }: GroupMember): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function give(assignment: Assignment, member: string, topic: string, partition: number): void {
  ((assignment[member] ??= {})[topic] ??= []).push(partition);
}
