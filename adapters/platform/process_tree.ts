import { spawnSync } from "node:child_process";
import process from "node:process";

/** How a process and what it has started are ended. */
export type TreeEnd =
  | { readonly kind: "signal"; readonly pid: number }
  | { readonly kind: "command"; readonly file: string; readonly args: readonly string[] };

/** Whether processes have groups, one of which a child that is `detached` leads. */
export function hasGroups(platform: string = process.platform): boolean {
  return platform !== "win32";
}

/**
 * `pid`: the leader of a group of its own, where there are groups. Windows has no signals: a process is
 * ended at once, and a program of the system finds its children.
 */
export function treeEnd(pid: number, platform: string = process.platform): TreeEnd {
  if (hasGroups(platform)) return { kind: "signal", pid: -pid };
  return { kind: "command", file: "taskkill", args: ["/pid", String(pid), "/t", "/f"] };
}

/** Ends a process and what it has started. One that has ended meanwhile is no error. */
export function endTree(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  const end = treeEnd(pid);
  if (end.kind === "command") {
    spawnSync(end.file, end.args, { stdio: "ignore", windowsHide: true });
    return;
  }
  try {
    process.kill(end.pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
}
