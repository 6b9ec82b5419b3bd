import { useMemo } from "preact/hooks";
import { Json } from "../../widgets/json_tree.tsx";
import { useEvents, useJournal, type Whole } from "./data.ts";
import { partOf } from "../../widgets/part.tsx";

const Export = partOf(() => import("./export/export.tsx"));

/** The rows as the server has them, to be read, copied or saved. */
export function Raw({ row, everyMs }: { readonly row: Whole; readonly everyMs: number }) {
  const { data: journal = [] } = useJournal(row.id, everyMs);
  const { data: events = [] } = useEvents(row.id, everyMs);
  const text = useMemo(() => JSON.stringify({ invocation: row, journal, events }, null, 2), [
    row,
    journal,
    events,
  ]);
  return (
    <>
      <Export row={row} everyMs={everyMs} />
      <Json text={text} label="all rows" />
    </>
  );
}
