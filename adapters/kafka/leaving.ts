import { clientOf } from "./client.ts";
import type { SubscriptionTask } from "./subscription_task.ts";
import { withAdmin } from "./with_admin.ts";

export interface LeaveOptions {
  readonly signal: AbortSignal;
  /** Others use the group: it stays. */
  readonly isGroupShared: boolean;
}

/** Deletes the consumer group, and waits for the signal. Rejects while it has members. */
export async function deleteGroup(
  task: SubscriptionTask,
  { signal, isGroupShared }: LeaveOptions,
): Promise<void> {
  task.status.showing(() => []);
  if (!isGroupShared && !task.isGroupDeleted) {
    const client = await clientOf(task.options, task.shared.tokens);
    await withAdmin(client, async (admin) => {
      await admin.deleteGroups([task.group]).catch((cause: GroupsError) => {
        const isGone = cause.groups?.every(({ error }) => error?.type === "GROUP_ID_NOT_FOUND");
        if (!isGone) throw cause;
      });
    });
  }
  task.isGroupDeleted = true;
  task.shared.onChange();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

interface GroupsError extends Error {
  readonly groups?: readonly { readonly error?: { readonly type?: string } }[];
}
