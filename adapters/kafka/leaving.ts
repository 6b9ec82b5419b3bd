import type { Admin } from "kafkajs";
import { clientOf } from "./client.ts";
import type { SubscriptionTask } from "./subscription_task.ts";
import { withAdmin } from "./with_admin.ts";

/** Somebody waits to hear what becomes of the group. */
const ASK_MS = 5_000;

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
    const asked = { signal, withinMs: ASK_MS };
    await withAdmin(client, asked, (admin) => deleteOf(admin, task.group))
      .finally(() => client.sockets.close());
  }
  task.isGroupDeleted = true;
  task.shared.onChange();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function deleteOf(admin: Admin, group: string): Promise<void> {
  await admin.deleteGroups([group]).catch((cause: GroupsError) => {
    const isGone = cause.groups?.every(({ error }) => error?.type === "GROUP_ID_NOT_FOUND");
    if (!isGone) throw cause;
  });
}

interface GroupsError extends Error {
  readonly groups?: readonly { readonly error?: { readonly type?: string } }[];
}
