import type { PartitionClient } from "../../src/ports.ts";
import type { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import type { Seat } from "./seat.ts";
import type { World } from "./world.ts";

/** What everybody needs who asks something of the servers. */
export interface Asking {
  readonly world: World;
  readonly history: History;
  readonly faults: () => Faults;
  /** Somebody to ask about this invocation, when there is one. */
  readonly route: (id: string) => Seat | undefined;
  readonly failed: (cause: unknown) => void;
}

/** Said by somebody who stopped waiting. */
const SILENCE = Symbol("silence");

/** How long one waits for an answer before one asks again. */
const TIMEOUT_MS = 2_500;

/** The answer; undefined: refused, or not in time, or whoever knew is dead. */
export async function ask<T extends object | string>(
  { world }: Asking,
  seat: Seat | undefined,
  put: (client: PartitionClient) => Promise<T>,
): Promise<T | undefined> {
  if (!seat?.process.touch()) return undefined;
  const silence = new Promise<typeof SILENCE>((resolve) => {
    world.after(TIMEOUT_MS, () => resolve(SILENCE));
  });
  try {
    const first = await Promise.race([seat.ask(put), silence]);
    return first === SILENCE || !seat.isAlive ? undefined : first;
  } catch (cause) {
    if (isRefusal(cause)) return undefined;
    throw cause;
  }
}

/** Whether a server said no, as it may. Sabotaged ones have classes of their own. */
export function isRefusal(cause: unknown): boolean {
  return cause instanceof Error && ["Failure", "Untaken"].includes(cause.name);
}
