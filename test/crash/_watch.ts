import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../support/client.ts";
import type { Server } from "../support/server.ts";

/** What it took to do something big, as seen from outside. */
export interface Watched {
  readonly tookMs: number;
  /** The most memory the server's processes had, in MiB (VmRSS; Linux only, else 0). */
  readonly rssMiB: number;
  /** The longest another caller waited for its answer meanwhile. Crashes are not counted. */
  readonly waitedMs: number;
}

/** Does something big while another caller asks a small thing of another endpoint, repeatedly. */
export async function watch(server: Server, work: () => Promise<void>): Promise<Watched> {
  const begun = performance.now();
  let rssMiB = 0, waitedMs = 0, isOver = false;
  const sample = async () => {
    for (; !isOver; await sleep(20)) rssMiB = Math.max(rssMiB, rssOf(server.pid));
  };
  const probe = async () => {
    for (; !isOver; await sleep(20)) {
      const asked = performance.now();
      const status = await call(server, "Greeter/greet", "you").then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) waitedMs = Math.max(waitedMs, performance.now() - asked);
    }
  };
  const working = work().finally(() => (isOver = true));
  await Promise.all([working, sample(), probe()]);
  const round = Math.round;
  return {
    tookMs: round(performance.now() - begun),
    rssMiB: round(rssMiB),
    waitedMs: round(waitedMs),
  };
}

function rssOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
