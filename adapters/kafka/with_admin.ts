import type { Admin } from "kafkajs";
import type { Client } from "./client.ts";
import { within } from "./pause.ts";

/** How long a broker may take to answer questions about topics, offsets and groups. */
export const ADMIN_MS = 20_000;

/** Connects for some questions, and disconnects. Rejects where no broker can be reached. */
export async function withAdmin<T>(client: Client, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = client.kafka.admin();
  try {
    await within("Connecting to the brokers", ADMIN_MS, admin.connect());
    return await work(admin);
  } finally {
    void admin.disconnect().catch(() => {});
  }
}
