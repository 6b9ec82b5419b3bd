import type { Admin } from "kafkajs";
import type { Client } from "./client.ts";
import { unless, within } from "./pause.ts";

/** How long a broker may take to answer questions about topics, offsets and groups. */
export const ADMIN_MS = 20_000;

export interface AskOptions {
  /** Nobody waits for the answers any more: it rejects. */
  readonly signal: AbortSignal;
  /** How long all questions together may take. Absent: `work` sees to that. */
  readonly withinMs?: number;
}

/** Connects for some questions, and disconnects. Rejects where no broker can be reached, or in time. */
export async function withAdmin<T>(
  client: Client,
  { signal, withinMs }: AskOptions,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = client.kafka.admin();
  const asking = async () => {
    const connectMs = Math.min(ADMIN_MS, withinMs ?? ADMIN_MS);
    await within("Connecting to the brokers", connectMs, admin.connect());
    return await (withinMs === undefined
      ? work(admin)
      : within("Asking the brokers", withinMs, work(admin)));
  };
  try {
    return await unless(signal, asking());
  } finally {
    void admin.disconnect().catch(() => {});
  }
}
