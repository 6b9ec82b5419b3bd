import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import process from "node:process";

/** What a process may use. */
export interface Machine {
  /** Cores, or less where the process is confined to a part of their time. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/** `quota and period`, in microseconds, or `max` for no quota (Linux, cgroup v2). */
const CPU_MAX = "/sys/fs/cgroup/cpu.max";

/** What this process may use of its machine, within its container. */
export function thisMachine(): Machine {
  const confined = process.constrainedMemory?.() ?? 0;
  const total = totalmem();
  return {
    // Before 22.10, Node does not heed the quota of a container.
    cores: Math.min(availableParallelism(), quotaOf(textOf(CPU_MAX))),
    // Without a limit Node answers 0, or more than there is.
    memoryBytes: confined > 0 ? Math.min(total, confined) : total,
  };
}

/** Cores in the text of `cpu.max`; Infinity where it sets no limit. */
export function quotaOf(text: string): number {
  const [, quota, period] = /^(\d+) (\d+)/.exec(text) ?? [];
  return quota === undefined ? Infinity : Number(quota) / Number(period);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
