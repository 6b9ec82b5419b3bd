import type { PartitionClient } from "../../src/ports.ts";
import type { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import type { PartitionOwner } from "./partition_owner.ts";
import type { World } from "./world.ts";

/** What a client or operator needs to send requests to the servers. */
export interface Asking {
  readonly world: World;
  readonly history: History;
  readonly faults: () => Faults;
  /** The owner to send a request about this invocation to, if there is one. */
  readonly route: (id: string) => PartitionOwner | undefined;
  readonly failed: (cause: unknown) => void;
  /** The number of its connection, which leads to one thread of a process that has several. */
  readonly connection: number;
}

/** Stands for a response that did not arrive in time. */
const TIMED_OUT = Symbol("timed out");

/** How long a caller waits for a response before it asks again. */
const TIMEOUT_MS = 2_500;

/** The response; undefined: refused, not in time, or the owner has died. */
export async function ask<T extends object | string>(
  { world, connection }: Asking,
  owner: PartitionOwner | undefined,
  put: (client: PartitionClient) => Promise<T>,
): Promise<T | undefined> {
  if (!owner?.process.touch()) return undefined;
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
    world.after(TIMEOUT_MS, () => resolve(TIMED_OUT));
  });
  try {
    const first = await Promise.race([owner.ask(put, connection), timeout]);
    return first === TIMED_OUT || !owner.isAlive ? undefined : first;
  } catch (cause) {
    if (isRefusal(cause)) return undefined;
    throw cause;
  }
}

/** Whether a server said no, as it may. Sabotaged ones have classes of their own. */
export function isRefusal(cause: unknown): boolean {
  return cause instanceof Error && ["Failure", "Untaken"].includes(cause.name);
}
