import { fetchIngress } from "../../data/ingress.ts";
import { query } from "../../data/client.ts";
import { ingressUrl, isPerdure } from "../../data/server.ts";
import type { Keyed } from "../keyed/statements.ts";
import { runById, runByKey, type RunRow } from "./list.ts";

/**
 * The run of a workflow. Its invocation id follows from the workflow's id, and the ingress computes
 * it. Where it does not answer, the newest invocations are searched. Undefined: none is stored.
 */
export async function findRun(
  keyed: Keyed,
  main: string,
  signal: AbortSignal,
): Promise<RunRow | undefined> {
  const id = isPerdure() ? await invocationIdOf(keyed, signal) : undefined;
  const statement = id === undefined ? runByKey(keyed, main) : runById(id);
  const [run] = await query<RunRow>(statement, signal);
  return run;
}

async function invocationIdOf(
  { service, key, scope }: Keyed,
  signal: AbortSignal,
): Promise<string | undefined> {
  const target = {
    target: "workflow",
    ...{ workflowName: service, workflowKey: key },
    ...(scope !== undefined && { scope }),
  };
  const body = JSON.stringify(target);
  try {
    const answer = await fetchIngress(ingressUrl("lookup"), { method: "POST", body, signal });
    return (await answer.json() as { invocationId?: string }).invocationId;
  } catch (cause) {
    if (signal.aborted) throw cause;
    // The ingress cannot be reached from this browser.
    return undefined;
  }
}
