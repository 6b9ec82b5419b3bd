import { go, link, linkWith } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Icon } from "../../widgets/icon.tsx";
import { StatusBadge, type StatusColumns, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { momentText } from "../../widgets/time.tsx";
import type { Row } from "./nested.ts";
import { useOpened } from "./opened.ts";
import type { Step } from "./steps.ts";
import type { Timeline } from "./timeline.ts";
import { Bar, type Waterfall } from "./waterfall.tsx";

interface StepsProps {
  readonly rows: readonly Row[];
  readonly callees: ReadonlyMap<string, StatusColumns>;
  readonly waterfall: Waterfall;
  readonly onChoose: (index: number) => void;
  /** Shows or hides the steps of what a row calls. */
  readonly onFold: (row: Row) => void;
}

/** Steps as code, each with its result and its bar. The steps of what was called may stand in between. */
export function Steps(props: StepsProps) {
  const { rows, onChoose, onFold } = props;
  const open = ({ step, owner }: Row) =>
    owner === undefined ? onChoose(step.index) : go(linkOf(owner, step));
  return (
    <div onKeyDown={(event) => onArrow(event, rows, onFold)}>
      <Table
        caption="Steps"
        columns={columnsOf(props)}
        rows={rows}
        idOf={({ id }) => id}
        onOpen={open}
      />
    </div>
  );
}

const linkOf = (owner: string, { index }: Step) =>
  linkWith(link("invocations", owner), { entry: String(index) });

/** Arrow keys fold and unfold the row that has the focus, as in any tree. */
function onArrow(event: KeyboardEvent, rows: readonly Row[], fold: (row: Row) => void): void {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const element = event.target instanceof Element ? event.target.closest("tbody tr") : null;
  // The heading is the first row.
  const row = rows[Number(element?.getAttribute("aria-rowindex") ?? 0) - 2];
  if (row?.isOpen === undefined) return;
  event.preventDefault();
  if (row.isOpen === (event.key === "ArrowLeft")) fold(row);
}

const INDEX: Column<Row> = {
  id: "index",
  rem: 3,
  title: "#",
  isNumber: true,
  cell: ({ step: { index } }) => index,
};

function columnsOf(
  { callees, waterfall, onChoose, onFold }: StepsProps,
): readonly Column<Row>[] {
  const { line, failures } = waterfall;
  return [
    INDEX,
    {
      id: "code",
      rem: 14,
      title: "Step",
      isHeader: true,
      cell: (row) => <Code {...{ row, onChoose, onFold }} />,
    },
    {
      id: "result",
      rem: 15,
      title: "Result",
      cell: ({ step }) => <ResultOf step={step} callees={callees} />,
    },
    ...timesOf(line),
    {
      id: "line",
      rem: 12,
      title: "When",
      cell: ({ step, owner }) => (
        <Bar {...{ step, line }} failed={(owner ? undefined : failures.get(step.index)) ?? []} />
      ),
    },
  ];
}

function timesOf(line: Timeline): readonly Column<Row>[] {
  return [
    {
      id: "at",
      rem: 6,
      title: "At",
      isNumber: true,
      cell: ({ step: { at } }) => <Offset {...{ at, line }} />,
    },
    {
      id: "took",
      rem: 7,
      title: "Took",
      isNumber: true,
      cell: ({ step }) => tookText(step, line),
    },
  ];
}

function Code({ row, onChoose, onFold }: Pick<StepsProps, "onChoose" | "onFold"> & {
  readonly row: Row;
}) {
  const { step, level, owner } = row;
  const code = <bdi>{step.code}</bdi>;
  return (
    <span class="step" style={{ paddingLeft: `${level}rem` }}>
      {level > 0 && <span class="hidden">Level {level}</span>}
      <Fold row={row} onFold={onFold} />
      {owner === undefined
        ? (
          <button type="button" class="link code line" onClick={() => onChoose(step.index)}>
            {code}
          </button>
        )
        : <a class="code line" href={linkOf(owner, step)}>{code}</a>}
    </span>
  );
}

function Fold({ row, onFold }: Pick<StepsProps, "onFold"> & { readonly row: Row }) {
  const { isOpen, step } = row;
  if (isOpen === undefined) return null;
  return (
    <button
      type="button"
      class="icon fold"
      aria-expanded={isOpen}
      aria-label={`Steps of ${step.code}`}
      // Enter is for the button here, not for the row.
      onKeyDown={(event) => event.key === "Enter" && event.stopPropagation()}
      onClick={() => onFold(row)}
    >
      <Icon name={isOpen ? "down" : "right"} />
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
