import { useMemo, useState } from "preact/hooks";
import { link, place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { StatusBadge, type StatusColumns, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { durationText } from "../../widgets/duration.ts";
import { now } from "../../data/live.ts";
import { momentText } from "../../widgets/time.tsx";
import { useCallees, useJournal, type Whole } from "./data.ts";
import { Entry } from "./entry.tsx";
import { type Step, stepsOf } from "./steps.ts";

export interface JournalProps {
  readonly row: Whole;
  readonly everyMs: number;
  /** Steps of these types only. */
  readonly types?: readonly string[];
}

/** What it did, step by step, as code. The chosen step is in the address and shown beside. */
export function Journal({ row, everyMs, types }: JournalProps) {
  const { data, error, refresh } = useJournal(row.id, everyMs);
  const [find, setFind] = useState("");
  const steps = useMemo(() => stepsOf(data ?? []), [data]);
  const shown = steps.filter(({ type, code }) =>
    (!types || types.includes(type)) && code.toLowerCase().includes(find.toLowerCase())
  );
  const called = steps.flatMap(({ callee }) => callee === undefined ? [] : [callee]);
  const callees = useCallees(called, everyMs);
  const chosen = place.value.query.get("entry");
  const step = steps.find(({ index }) => String(index) === chosen);
  const choose = (index?: number) => setQuery({ entry: index === undefined ? "" : String(index) });
  if (error && !data) return <Failed error={error} onRetry={refresh} />;
  if (!data) return <p class="loading" role="status">Loading…</p>;
  return (
    <div class={step ? "split open" : "split"}>
      <div>
        <input
          type="search"
          aria-label="Find in the journal"
          placeholder="Find in the journal"
          value={find}
          onInput={({ currentTarget }) => setFind(currentTarget.value)}
        />
        {shown.length === 0
          ? <Empty title={steps.length === 0 ? EMPTY : "No step is like that."} />
          : <Steps steps={shown} callees={callees} first={steps[0]?.at} onChoose={choose} />}
      </div>
      {step && <Entry key={step.index} row={row} step={step} onClose={() => choose()} />}
    </div>
  );
}

const EMPTY = "It has no journal: it has not begun, or its journal is no longer kept.";

function Steps({ steps, callees, first, onChoose }: {
  readonly steps: readonly Step[];
  readonly callees: ReadonlyMap<string, StatusColumns>;
  readonly first: string | undefined;
  readonly onChoose: (index: number) => void;
}) {
  const columns: readonly Column<Step>[] = [
    { id: "index", title: "#", isNumber: true, cell: ({ index }) => index },
    {
      id: "code",
      title: "Step",
      isHeader: true,
      cell: (step) => (
        <button type="button" class="link code" onClick={() => onChoose(step.index)}>
          <bdi>{step.code}</bdi>
        </button>
      ),
    },
    { id: "result", title: "Result", cell: (step) => <ResultOf step={step} callees={callees} /> },
    { id: "at", title: "At", isNumber: true, cell: ({ at }) => <Offset at={at} first={first} /> },
    { id: "took", title: "Took", isNumber: true, cell: (step) => took(step) },
  ];
  return (
    <Table
      caption="Steps"
      columns={columns}
      rows={steps}
      idOf={({ index }) => String(index)}
      onOpen={({ index }) => onChoose(index)}
    />
  );
}

function ResultOf({ step: { result, callee }, callees }: {
  readonly step: Step;
  readonly callees: ReadonlyMap<string, StatusColumns>;
}) {
  const called = callee === undefined ? undefined : callees.get(callee);
  return (
    <>
      {result === "pending" && (
        <span class="status suspended">
          <Icon name="pending" /> pending
        </span>
      )}
      {result === "success" && (
        <span class="status succeeded">
          <Icon name="succeeded" /> done
        </span>
      )}
      {result === "failure" && (
        <span class="status failed">
          <Icon name="failed" /> failed
        </span>
      )}
      {callee !== undefined && (
        <>
          {" "}
          <a href={link("invocations", callee)} title={callee}>{callee.slice(0, 10)}…</a>{" "}
          {called && <StatusBadge status={statusOf(called)} />}
        </>
      )}
    </>
  );
}

/** How long after the first entry. */
function Offset(
  { at, first }: { readonly at: string | undefined; readonly first: string | undefined },
) {
  if (at === undefined || first === undefined) return null;
  const ms = Date.parse(at) - Date.parse(first);
  return <time dateTime={at} title={momentText(at)}>+{durationText(Math.max(0, ms))}</time>;
}

function took({ at, endedAt, result }: Step): string {
  if (at === undefined || result === "none") return "";
  if (result === "pending") {
    return `${durationText(Math.max(0, now.value - Date.parse(at)))} so far`;
  }
  if (endedAt === undefined) return "";
  return durationText(Math.max(0, Date.parse(endedAt) - Date.parse(at)));
}
