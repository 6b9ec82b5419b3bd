import { limitsOfCounter } from "../../src/engine/flow/admission.ts";
import { NO_CONTROLS } from "../../src/model/limits.ts";
import type { SqlClient } from "../../src/ports.ts";
import { CONTROL_READS, storedControls } from "../../src/storage/control_rows.ts";
import { databaseInfoOf, partitionsIn } from "../../src/storage/examine.ts";
import { ShareRows } from "../../src/storage/share_rows.ts";
import { shareProblems } from "./share_problems.ts";

/**
 * Compares the slots that partitions have of shared limits with what was given to them, and with the
 * limits, over all databases of a folder, in their order. All rows must be decodable. Yields a text
 * for each problem; none where a log is damaged, which is reported by the check of the folder.
 */
export async function* verifyShares(clients: readonly SqlClient[]): AsyncGenerator<string> {
  const [first] = clients;
  if (!first) return;
  const info = await databaseInfoOf(first), rows = new ShareRows();
  for (const [number, client] of clients.entries()) {
    if (!await rows.read(client, partitionsIn(info, number))) return;
  }
  const [rules = [], controls = []] = await first.batch("read", CONTROL_READS);
  const { services } = storedControls(rules, controls);
  const known = { ...NO_CONTROLS, services: new Map(services) };
  yield* shareProblems(rows, (counter) => limitsOfCounter(counter, known)?.concurrency);
}
