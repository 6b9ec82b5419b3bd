import { type Answer, type Ask, request, send } from "./_ask.ts";
import { until } from "../support/child.ts";
import type { World } from "./_suite.ts";
import type { Target } from "./_target.ts";

/** The switches of flow control, as both servers name them. */
export const FLOW_CONTROL = {
  "experimental-enable-vqueues": "true",
  "experimental-enable-protocol-v7": "true",
  "experimental-enable-scoped-virtual-objects": "true",
};

/** Sends in a scope, `a` or with a limit key `a/b`. Answers the id. */
export function sendIn(
  target: Target,
  place: string,
  path: string,
  given: unknown,
  ask: Ask = {},
): Promise<string> {
  const [scope = "", ...levels] = place.split("/");
  const limitKey = levels.join("/");
  const headers = limitKey === "" ? {} : { [`x-${target.word}-limit-key`]: limitKey };
  const { ingress, admin, word } = target;
  const scoped = { ingress, admin, word: `${word}/scope/${scope}` } as unknown as Target;
  return send(scoped, path, given, { ...ask, headers: { ...headers, ...ask.headers } });
}

/** Sets rules: patterns and their concurrency, null for none. Answers what admin said. */
export async function setRules(
  target: Target,
  rules: Readonly<Record<string, number | null>>,
): Promise<Answer> {
  const body = Object.entries(rules).map(([pattern, concurrency]) => ({
    pattern,
    limits: concurrency === null ? {} : { concurrency },
  }));
  const answer = await request("PUT", `${target.admin}/limits/rules`, { body });
  if (answer.status !== 200) throw new Error(`rules: ${answer.status} ${answer.body}`);
  return answer;
}

/** Rows of a query. */
export async function query(target: Target, sql: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await request("POST", `${target.admin}/query`, {
    body: { query: sql },
    headers: { accept: "application/json" },
  });
  if (status !== 200) throw new Error(`query: ${status} ${JSON.stringify(body)}`);
  return (body as { rows: Record<string, unknown>[] }).rows;
}

/** Waits until an invocation is shown in a status. */
export async function becomes(target: Target, id: string, status: string): Promise<void> {
  await until(`${id} to be ${status}`, async () => {
    const [row] = await query(target, `select status from sys_invocation where id = '${id}'`);
    return row?.["status"] === status;
  });
}

/** Sends to `hold` one after the other, each with a name of its own. Answers names and ids. */
export async function sendHolds(
  { target, named, id }: World,
  place: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly names: string[]; readonly ids: string[] }> {
  const names = Array.from({ length: count }, (_, i) => `${id}-${place.replaceAll("/", "-")}-${i}`);
  const ids: string[] = [];
  for (const name of names) {
    ids.push(await sendIn(target, place, `${named("Plain")}/hold`, name, { headers }));
  }
  return { names, ids };
}

/** The names of those that have started, in order. */
export function started({ endpoint }: World, names: readonly string[]): string[] {
  return endpoint.lines().filter((line) => line.endsWith(" hold")).map((line) => line.slice(0, -5))
    .filter((name) => names.includes(name));
}
