import { until } from "../support/child.ts";
import { query } from "./_scoped.ts";
import type { World } from "./_suite.ts";

const WORDS: Readonly<Record<string, string>> = {
  TIME: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
  PLACE: String.raw`place \d+ of its queue`,
};

/**
 * Waits until an invocation says such a reason. A time stands as `TIME` in it, any place in a queue as
 * `PLACE`. Answers what it says to programs. Throws with what it said last.
 */
export async function says(
  { target }: World,
  id: string,
  reason: string,
): Promise<Record<string, unknown>> {
  const escaped = reason.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replace(/TIME|PLACE/g, (word) => WORDS[word] ?? word);
  let said: unknown;
  let on: unknown;
  await until(`"${reason}"`, async () => {
    const sql = `select waiting_reason, waiting_on from sys_invocation where id = '${id}'`;
    const [row] = await query(target, sql);
    said = row?.["waiting_reason"];
    if (typeof row?.["waiting_on"] === "string") on = JSON.parse(row["waiting_on"]);
    return new RegExp(`^${escaped}$`).test(String(said));
  }).catch((cause) => {
    throw new Error(`${cause.message}: it says "${said}"`);
  });
  return on as Record<string, unknown>;
}
