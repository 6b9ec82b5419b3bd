import { execFileSync } from "node:child_process";
import type { Step } from "./_page.ts";
import type { Stage } from "./_stage.ts";

/** Programs that pages use and small machines lack: there, a page that uses one is skipped. */
const TOOLS = ["curl", "jq", "lsof"];

/** The first program that commands of these steps use and this machine has not. */
export function absentTool(steps: readonly Step[]): string | undefined {
  const text = steps.map(textOf).join("\n");
  return TOOLS.find((tool) => RegExp(`\\b${tool}\\b`).test(text) && !isThere(tool));
}

function isThere(tool: string): boolean {
  try {
    return execFileSync("sh", ["-c", `command -v ${tool}`], { stdio: "pipe" }).length > 0;
  } catch {
    return false;
  }
}

/** The command or the file of a step; "" if it is neither. */
export function textOf(step: Step): string {
  return "text" in step ? step.text : "";
}

/** Does a step. What is thrown says where on the page it is, and what ran in the background. */
export async function doAt(stage: Stage, step: Step, page: string): Promise<void> {
  try {
    await stage.do(step);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const place = `${page}:${step.line}`;
    throw new Error(`${place}: ${reason}\nIn the background:\n${stage.logs()}`, { cause });
  }
}
