import { useQuery } from "../../../data/hooks.ts";
import { join, type Sql, sql } from "../../../data/sql.ts";
import { link, linkWith } from "../../../state/router.ts";
import { Failed } from "../../../widgets/empty.tsx";
import { StateValue } from "../../keyed/state_value.tsx";
import type { FullEntry } from "../data.ts";
import type { Found } from "./beginning.ts";
import { Value } from "./value.tsx";

type FoundEntry = FullEntry & { readonly id: string };

/** The values that earlier runs wrote or read. */
export type FoundValues = ReturnType<typeof useFoundValues>;

/** Reads the values that are in journals of earlier runs: all of them at once. */
export function useFoundValues(found: readonly Found[]) {
  const wanted = new Map<string, number[]>();
  for (const one of found) {
    if (one.kind !== "run") continue;
    wanted.set(one.run.id, [...wanted.get(one.run.id) ?? [], one.valueIndex]);
  }
  return useQuery<FoundEntry>(entriesOf(wanted), { isOn: wanted.size > 0 });
}

function entriesOf(wanted: ReadonlyMap<string, readonly number[]>): Sql {
  const parts = [...wanted].map(([id, indexes]) =>
    sql`SELECT id, index, entry_json FROM sys_journal WHERE id = ${id} AND index IN ${indexes}`
  );
  return join(parts, " UNION ALL ");
}

/** By what a key of the beginning is known, if its own journal says nothing. */
export function FoundSource({ found }: { readonly found: Found }) {
  if (found.kind === "now") return <>as it is now: nothing has written it since</>;
  if (!found.run) return <>a workflow begins without state</>;
  const { run: { id, handler }, at } = found;
  const to = linkWith(link("invocations", id), { tab: "travel", entry: String(at) });
  return (
    <>
      as the run before it left it: <a href={to}>{handler}, entry {at}</a>
    </>
  );
}

/** What a key had at the beginning. */
export function FoundValue({ found, values }: {
  readonly found: Found;
  readonly values: FoundValues;
}) {
  if (found.kind === "void") return <span class="quiet">not set</span>;
  if (found.kind === "now") return <StateValue row={found.row} />;
  const { data, error, refresh } = values;
  if (error && !data) return <Failed error={error} onRetry={refresh} />;
  const entry = data?.find(({ id, index }) =>
    id === found.run.id && Number(index) === found.valueIndex
  );
  return <Value name={found.key} json={entry?.entry_json} />;
}
