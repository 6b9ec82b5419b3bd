import type { Admin } from "kafkajs";
import type { PartitionReport } from "../../src/model/kafka.ts";
import { clientOf } from "./client.ts";
import { pause } from "./pause.ts";
import type { SubscriptionTask } from "./subscription_task.ts";
import { findTopics } from "./topics.ts";
import { ADMIN_MS, withAdmin } from "./with_admin.ts";

const REFRESH_MS = 10_000;

/** Shows where a paused subscription stands, until the signal. */
export async function lookAround(task: SubscriptionTask, signal: AbortSignal): Promise<void> {
  task.status.paused();
  const client = await clientOf(task.options, task.shared.tokens);
  const asked = { signal, withinMs: ADMIN_MS };
  try {
    while (!signal.aborted) {
      const partitions = await withAdmin(client, asked, (admin) => positions(admin, task))
        .catch(() => []);
      task.status.showing(() => partitions);
      await pause(REFRESH_MS, signal);
    }
  } finally {
    client.sockets.close();
  }
}

async function positions(
  admin: Admin,
  task: SubscriptionTask,
): Promise<readonly PartitionReport[]> {
  const { topics } = await findTopics(admin, task);
  const committed = await admin.fetchOffsets({ groupId: task.group, topics: [...topics] });
  const reports = await Promise.all(committed.map(async ({ topic, partitions }) => {
    const ends = await admin.fetchTopicOffsets(topic);
    return partitions.map(({ partition, offset }): PartitionReport => {
      const end = ends.find((one) => one.partition === partition)?.high;
      return {
        topic,
        partition,
        ...(Number(offset) >= 0 && { position: Number(offset) }),
        ...(end !== undefined && { end: Number(end) }),
      };
    });
  }));
  return reports.flat();
}
