import { useMemo, useState } from "preact/hooks";
import type { Int } from "../../data/json.ts";
import { link, place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { StatusBadge, type StatusColumns, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { durationText } from "../../widgets/duration.ts";
import { momentText } from "../../widgets/time.tsx";
import { useCallees, useKnownJournal, type Whole } from "./data.ts";
import { Entry } from "./entry.tsx";
import { useOpened } from "./opened.ts";
import { type Step, stepsOf } from "./steps.ts";
import type { Timeline } from "./timeline.ts";
import { Bar, Legend, useWaterfall, type Waterfall } from "./waterfall.tsx";

export interface JournalProps {
  readonly row: Whole;
  readonly everyMs: number;
  /** Steps of these types only. */
  readonly types?: readonly string[];
}

/** What it did, step by step, as code. The chosen step is in the address and shown beside. */
export function Journal({ row, everyMs, types }: JournalProps) {
  const { data, error, refresh } = useKnownJournal(row.id, everyMs);
  const [find, setFind] = useState("");
  const steps = useMemo(() => data ? stepsOf(data.rows, data.isWhole) : [], [data]);
  const shown = steps.filter(({ type, code }) =>
    (!types || types.includes(type)) && code.toLowerCase().includes(find.toLowerCase())
  );
  const waterfall = useWaterfall(row, steps, everyMs);
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
        />{" "}
        <Legend {...waterfall} />
        {data.isWhole || <Behind known={data.rows.length} size={row.journal_size} />}
        {shown.length === 0
          ? <Empty title={steps.length === 0 ? EMPTY : "No step is like that."} />
          : <Steps {...{ callees, waterfall }} steps={shown} onChoose={choose} />}
      </div>
      {step && <Entry key={step.index} row={row} step={step} onClose={() => choose()} />}
    </div>
  );
}

/** The others of a long journal follow its first entries. */
function Behind({ known, size }: { readonly known: number; readonly size: Int | undefined }) {
  const all = size === undefined ? "" : ` of ${size}`;
  return (
    <p class="quiet" role="status">These are the first {known}{all} entries. The others follow.</p>
  );
}

const EMPTY = "It has no journal: it has not begun, or its journal is no longer kept.";

interface StepsProps {
  readonly steps: readonly Step[];
  readonly callees: ReadonlyMap<string, StatusColumns>;
  readonly waterfall: Waterfall;
  readonly onChoose: (index: number) => void;
}

function Steps(props: StepsProps) {
  return (
    <Table
      caption="Steps"
      columns={columnsOf(props)}
      rows={props.steps}
      idOf={({ index }) => String(index)}
      onOpen={({ index }) => props.onChoose(index)}
    />
  );
}

const INDEX: Column<Step> = {
  id: "index",
  rem: 3,
  title: "#",
  isNumber: true,
  cell: ({ index }) => index,
};

function columnsOf({ callees, waterfall, onChoose }: StepsProps): readonly Column<Step>[] {
  const { line, failures } = waterfall;
  return [
    INDEX,
    {
      id: "code",
      rem: 16,
      title: "Step",
      isHeader: true,
      cell: (step) => <Code step={step} onChoose={onChoose} />,
    },
    {
      id: "result",
      rem: 16,
      title: "Result",
      cell: (step) => <ResultOf step={step} callees={callees} />,
    },
    {
      id: "at",
      rem: 6,
      title: "At",
      isNumber: true,
      cell: ({ at }) => <Offset {...{ at, line }} />,
    },
    {
      id: "took",
      rem: 8,
      title: "Took",
      isNumber: true,
      cell: (step) => tookText(step, line),
    },
    {
      id: "line",
      rem: 16,
      title: "When",
      cell: (step) => <Bar {...{ step, line }} failed={failures.get(step.index) ?? []} />,
    },
  ];
}

function Code({ step: { index, code }, onChoose }: {
  readonly step: Step;
  readonly onChoose: (index: number) => void;
}) {
  return (
    <button type="button" class="link code line" onClick={() => onChoose(index)}>
      <bdi>{code}</bdi>
    </button>
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
          <Callee id={callee} /> {called && <StatusBadge status={statusOf(called)} />}
        </>
      )}
    </>
  );
}

/** The invocation that was called. In a file it is one of another installation. */
function Callee({ id }: { readonly id: string }) {
  const text = `${id.slice(0, 10)}…`;
  if (useOpened()) return <code title={id}>{text}</code>;
  return <a href={link("invocations", id)} title={id}>{text}</a>;
}

/** How long after the first entry. */
function Offset({ at, line }: { readonly at: string | undefined; readonly line: Timeline }) {
  if (at === undefined) return null;
  const ms = Math.max(0, Date.parse(at) - line.from);
  return <time dateTime={at} title={momentText(at)}>+{durationText(ms)}</time>;
}

/** How long a step took, or has taken at the end of the line. */
function tookText({ at, endedAt, result }: Step, line: Timeline): string {
  if (at === undefined || result === "none") return "";
  if (result === "pending") {
    return `${durationText(Math.max(0, line.to - Date.parse(at)))} so far`;
  }
  if (endedAt === undefined) return "";
  return durationText(Math.max(0, Date.parse(endedAt) - Date.parse(at)));
}
