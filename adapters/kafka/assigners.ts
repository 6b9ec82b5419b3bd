import kafkajs, { type Assigner, type PartitionAssigner } from "kafkajs";
import {
  assignRange,
  assignRoundRobin,
  type GroupMember,
  type PartitionCounts,
} from "../../src/kafka/assign.ts";
import type { Options } from "../../src/kafka/options.ts";
import type { GroupHooks } from "./kafkajs_patches.ts";

const { AssignerProtocol } = kafkajs;
const VERSION = 0;
const STRATEGIES = { range: assignRange, roundrobin: assignRoundRobin };
const DEFAULT = "range,roundrobin";

/** The strategies of `partition.assignment.strategy`, the preferred one first, with hooks. */
export function assignersOf(options: Options, hooks: GroupHooks): PartitionAssigner[] {
  const names = (options["partition.assignment.strategy"] ?? DEFAULT).split(",");
  return names.map((name) => assignerOf(name.trim().toLowerCase(), hooks));
}

/** The part of kafkajs's cluster that assigners use, which its types leave out. */
interface Metadata {
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
}

function assignerOf(name: string, hooks: GroupHooks): PartitionAssigner {
  const strategy = name === "roundrobin" ? STRATEGIES.roundrobin : STRATEGIES.range;
  return ({ cluster }): Assigner & { readonly hooks: GroupHooks } => ({
    name,
    version: VERSION,
    hooks,
    protocol: ({ topics }) => ({
      name,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: VERSION,
        topics,
        userData: Buffer.alloc(0),
      }),
    }),
    assign: async ({ members, topics }) => {
      const group = members.map(({ memberId, memberMetadata }): GroupMember => {
        const asked = AssignerProtocol.MemberMetadata.decode(memberMetadata);
        return { id: memberId, topics: asked?.topics ?? topics };
      });
      const counts = countsOf(cluster as unknown as Metadata, topics);
      return Object.entries(strategy(group, counts)).map(([memberId, assignment]) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version: VERSION,
          assignment,
          userData: Buffer.alloc(0),
        }),
      }));
    },
  });
}

function countsOf(cluster: Metadata, topics: readonly string[]): PartitionCounts {
  return new Map(topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]));
}
