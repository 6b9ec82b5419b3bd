import { useMemo, useState } from "preact/hooks";
import { filterLink } from "../../../data/filter_link.ts";
import { EVERY_MS, useResource } from "../../../data/hooks.ts";
import { now } from "../../../data/live.ts";
import { go, link } from "../../../state/router.ts";
import { Empty, Failed } from "../../../widgets/empty.tsx";
import { Table } from "../../../widgets/table.tsx";
import type { Whole } from "../data.ts";
import { FoldChoice, isFoldingOf } from "../time_line.tsx";
import { timelineOf } from "../timeline.ts";
import { columnsOf } from "./columns.tsx";
import { readTree, type Widths } from "./read.ts";
import { type CallTree, figuresOf, momentsOf, rowsOf, TREE, type TreeRow } from "./tree.ts";

/** Everything that an invocation has called, and what those have called, as one picture. */
export default function Calls({ row }: { readonly row: Whole }) {
  const { tree, widen } = useTree(row);
  const { data, error, refresh } = tree;
  if (error && !data) {
    if (error.status === 404) return <Empty title={NO_QUERY} />;
    return <Failed error={error} onRetry={refresh} />;
  }
  if (!data) return <p class="loading" role="status">Loading…</p>;
  if (data.edges.length === 0) return <Empty title="It has called nothing that is still kept." />;
  return (
    <>
      {error && <Failed error={error} onRetry={refresh} />}
      <Picture tree={{ ...data, root: row }} onMore={widen} />
    </>
  );
}

const NO_QUERY = "This server answers no SQL (POST /query), which lists the calls.";

/** Reads the tree while it is shown: as often as an open invocation while anything in it is open. */
function useTree(row: Whole) {
  const [widths, setWidths] = useState<Widths>(new Map());
  const [isOpen, setOpen] = useState(true);
  const tree = useResource<CallTree>(
    `calls ${row.id} ${JSON.stringify([...widths])}`,
    async (signal) => {
      const read = await readTree(row, widths, signal);
      setOpen(figuresOf(read).open > 0);
      return read;
    },
    {
      everyMs: isOpen || row.status !== "completed" ? EVERY_MS.invocation : EVERY_MS.overview,
    },
  );
  const widen = (caller: string, shown: number) =>
    setWidths(new Map([...widths, [caller, shown + TREE.childrenMore]]));
  return { tree, widen };
}

interface PictureProps {
  readonly tree: CallTree;
  readonly onMore: (caller: string, shown: number) => void;
}

function Picture({ tree, onMore }: PictureProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const isFolding = isFoldingOf();
  const rows = useMemo(() => rowsOf(tree, folded), [tree, folded]);
  const isOpen = tree.root.status !== "completed" || figuresOf(tree).open > 0;
  const until = isOpen ? now.value : undefined;
  const line = useMemo(() => {
    const moments = momentsOf(rows);
    return timelineOf(until === undefined ? moments : [...moments, until], isFolding);
  }, [rows, until, isFolding]);
  const fold = (id: string, isFolded: boolean) => {
    const others = [...folded].filter((one) => one !== id);
    setFolded(new Set(isFolded ? [...others, id] : others));
  };
  const open = (row: TreeRow) => openRow(row, tree, onMore);
  const columns = columnsOf({ line, onFold: fold, onOpen: open });
  const callers = new Set(tree.edges.map(({ invoked_by_id: caller }) => caller));
  return (
    <div onKeyDown={(event) => onArrow(event, rows, fold)}>
      <p class="legend">
        <span role="status">{sentenceOf(tree)}</span>
        <button type="button" onClick={() => setFolded(folded.size > 0 ? new Set() : callers)}>
          {folded.size > 0 ? "Unfold all" : "Fold all"}
        </button>
        <FoldChoice />
      </p>
      <Table caption="Calls" columns={columns} rows={rows} idOf={({ id }) => id} onOpen={open} />
    </div>
  );
}

/** Goes to a call, or reads more of those that are hidden. */
function openRow(row: TreeRow, { edges }: CallTree, onMore: PictureProps["onMore"]): void {
  if (row.kind === "call") return go(link("invocations", row.id));
  const shown = edges.filter(({ invoked_by_id: caller }) => caller === row.caller).length;
  if (row.hidden === undefined) go(`${link("invocations", row.caller)}?tab=calls`);
  else if (edges.length < TREE.rowsMax) onMore(row.caller, shown);
  else go(filterLink({ caller: row.caller }));
}

function sentenceOf(tree: CallTree): string {
  const { calls, failed, open, hidden } = figuresOf(tree);
  const parts = [
    `${calls.toLocaleString()} ${calls === 1 ? "call" : "calls"}`,
    ...(hidden > 0 ? [`${hidden.toLocaleString()} more not shown`] : []),
    ...(open > 0 ? [`${open.toLocaleString()} open`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString()} failed`] : []),
  ];
  return parts.join(", ");
}

/** Arrow keys fold and unfold the row that has the focus, as in any tree. */
function onArrow(
  event: KeyboardEvent,
  rows: readonly TreeRow[],
  fold: (id: string, isFolded: boolean) => void,
): void {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const element = event.target instanceof Element ? event.target.closest("tbody tr") : null;
  // The heading is the first row.
  const row = rows[Number(element?.getAttribute("aria-rowindex") ?? 0) - 2];
  if (row?.kind !== "call" || row.isOpen === undefined) return;
  event.preventDefault();
  fold(row.id, event.key === "ArrowLeft");
}
