import { now } from "../../../data/live.ts";
import { link } from "../../../state/router.ts";
import { durationText } from "../../../widgets/duration.ts";
import { Icon } from "../../../widgets/icon.tsx";
import { StatusBadge, statusOf } from "../../../widgets/status.tsx";
import type { Column } from "../../../widgets/table.tsx";
import { momentText } from "../../../widgets/time.tsx";
import { BAR_MIN, LinePicture, WIDTH } from "../time_line.tsx";
import type { Timeline } from "../timeline.ts";
import type { Call, TreeRow } from "./tree.ts";

export interface ColumnProps {
  readonly line: Timeline;
  readonly onFold: (id: string, isFolded: boolean) => void;
  readonly onOpen: (row: TreeRow) => void;
}

/** Levels that are drawn further to the right each. Deeper ones stay there, so that names are seen. */
const INDENTS_MAX = 8;
/** Characters of a failure. The page of the call has all of it. */
const FAILURE_MAX = 300;

/** A cell that only calls have. */
const ofCall = (cell: (call: Call) => unknown) => (row: TreeRow) =>
  row.kind === "call" ? <>{cell(row.call)}</> : null;

/** The columns of a call tree: its names, indented by their levels, and each call as a bar. */
export function columnsOf(props: ColumnProps): readonly Column<TreeRow>[] {
  const { line } = props;
  return [
    {
      id: "call",
      rem: 22,
      title: "Call",
      isHeader: true,
      cell: (row) => <Name row={row} {...props} />,
    },
    {
      id: "status",
      rem: 9,
      title: "Status",
      cell: ofCall((call) => <Standing call={call} />),
    },
    { id: "took", rem: 7, title: "Took", isNumber: true, cell: ofCall(tookOf) },
    {
      id: "at",
      rem: 6,
      title: "At",
      isNumber: true,
      cell: ofCall(({ created_at: at }) => (
        <time dateTime={at} title={momentText(at)}>
          +{durationText(Math.max(0, Date.parse(at) - line.from))}
        </time>
      )),
    },
    { id: "line", rem: 14, title: "When", cell: ofCall((call) => <Bar {...{ call, line }} />) },
    {
      id: "failure",
      rem: 14,
      title: "Failure",
      cell: ofCall((call) => <bdi class="cut">{failureOf(call).slice(0, FAILURE_MAX)}</bdi>),
    },
  ];
}

function Name({ row, onFold, onOpen }: ColumnProps & { readonly row: TreeRow }) {
  return (
    <span class="tree-call" style={{ paddingLeft: `${Math.min(row.level, INDENTS_MAX)}rem` }}>
      <span class="hidden">Level {row.level}</span>
      {row.kind === "more" ? <More row={row} onOpen={onOpen} /> : (
        <>
          <Fold row={row} onFold={onFold} />
          <a class="code" href={link("invocations", row.id)} title={row.id}>
            <bdi>{row.call.target}</bdi>
          </a>
        </>
      )}
    </span>
  );
}

function More({ row, onOpen }: Pick<ColumnProps, "onOpen"> & { readonly row: TreeRow }) {
  const hidden = row.kind === "more" ? row.hidden : undefined;
  return (
    <button type="button" class="link" onClick={() => onOpen(row)}>
      {hidden === undefined ? "its calls are not read here" : `and ${hidden.toLocaleString()} more`}
    </button>
  );
}

function Fold({ row, onFold }: Pick<ColumnProps, "onFold"> & {
  readonly row: TreeRow & { readonly kind: "call" };
}) {
  const { id, isOpen, call } = row;
  if (isOpen === undefined) return <span class="fold" />;
  return (
    <button
      type="button"
      class="icon fold"
      aria-expanded={isOpen}
      aria-label={`Calls of ${call.target}`}
      // Enter is for the button here, not for the row.
      onKeyDown={(event) => event.key === "Enter" && event.stopPropagation()}
      onClick={() => onFold(id, isOpen)}
    >
      <Icon name={isOpen ? "down" : "right"} />
    </button>
  );
}

function Standing({ call }: { readonly call: Call }) {
  const attempts = Number(call.retry_count ?? 0);
  const status = statusOf(call);
  const more = status === "retrying" && attempts > 0 ? String(attempts) : undefined;
  return <StatusBadge status={status} {...(more !== undefined && { more })} />;
}

function failureOf(call: Call): string {
  return call.completion_failure ?? (call.status === "completed" ? "" : call.last_failure ?? "");
}

function tookOf({ created_at: at, completed_at: to }: Call): string {
  const ms = (to === undefined ? now.value : Date.parse(to)) - Date.parse(at);
  return `${durationText(Math.max(0, ms))}${to === undefined ? " so far" : ""}`;
}

/** A call on the line: how long it waited to begin, then how long it ran. The columns say it in numbers. */
function Bar({ call, line }: { readonly call: Call; readonly line: Timeline }) {
  const { created_at: at, running_at: from = call.completed_at, completed_at: to } = call;
  const place = (moment: string | undefined) =>
    moment === undefined ? WIDTH * line.at(line.to) : WIDTH * line.at(Date.parse(moment));
  const [accepted, begun, ended] = [place(at), place(from), place(to)];
  const x = Math.min(begun, WIDTH - BAR_MIN);
  return (
    <LinePicture line={line}>
      <rect class="none" x={accepted} y={9} width={Math.max(0, x - accepted)} height={2} />
      <rect
        class={to === undefined ? "pending" : call.completion_result ?? "none"}
        x={x}
        y={5}
        width={Math.max(BAR_MIN, ended - x)}
        height={10}
      />
    </LinePicture>
  );
}
