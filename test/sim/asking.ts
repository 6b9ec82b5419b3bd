import type { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** What everybody needs who asks something of the servers. */
export interface Asking {
  readonly world: World;
  readonly history: History;
  readonly faults: () => Faults;
  /** A process to speak to, when there is one. */
  readonly route: () => Process | undefined;
  readonly failed: (cause: unknown) => void;
}

/** Said by somebody who stopped waiting. */
const SILENCE = Symbol("silence");

/** How long one waits for an answer before one asks again. */
const TIMEOUT_MS = 2_500;

/** The answer; undefined: refused, or not in time, or whoever knew is dead. */
export async function ask<T extends object | string>(
  { world, route }: Asking,
  put: (process: Process) => Promise<T>,
  process: Process | undefined = route(),
): Promise<T | undefined> {
  if (!process?.touch()) return undefined;
  const token = {};
  process.pending.add(token);
  const silence = new Promise<typeof SILENCE>((resolve) => {
    world.after(TIMEOUT_MS, () => resolve(SILENCE));
  });
  const answer = put(process).finally(() => process.pending.delete(token));
  try {
    const first = await Promise.race([answer, silence]);
    return first === SILENCE || !process.isAlive ? undefined : first;
  } catch (cause) {
    if (cause instanceof Error && cause.name === "Failure") return undefined;
    throw cause;
  }
}
