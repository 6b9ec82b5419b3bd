import type { RefObject } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Used } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import { useKeys } from "../../state/keys.ts";
import { useParameter } from "../../state/parameter.ts";
import { place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { stepsIn, useCallees, useKnownJournal, type Whole } from "./data.ts";
import { Entry } from "./entry.tsx";
import { type OpenRows, type Row, rowsOf, useNested } from "./nested.ts";
import { Overview } from "./overview.tsx";
import { Steps } from "./step_table.tsx";
import type { Step } from "./steps.ts";
import { Legend, useWaterfall, type Waterfall } from "./waterfall.tsx";

/** Characters that are searched for: the address has them. */
const FIND_MAX = 200;

export interface JournalProps {
  readonly row: Whole;
  readonly everyMs: number;
  /** Steps of these types only. */
  readonly types?: readonly string[];
}

/** What it did, step by step, as code. The address has what is searched for and the chosen step. */
export function Journal({ row, everyMs, types }: JournalProps) {
  const { data, error, refresh } = useKnownJournal(row.id, everyMs);
  const [find, setFind] = useParameter("find");
  const steps = data ? stepsIn(data) : NONE;
  const shown = steps.filter(({ type, code }) =>
    (!types || types.includes(type)) && code.toLowerCase().includes(find.toLowerCase())
  );
  const waterfall = useWaterfall(row, steps, everyMs);
  const { rows, onFold } = useRows(shown, everyMs);
  const called = rows.flatMap(({ step: { callee } }) => callee === undefined ? [] : [callee]);
  const callees = useCallees(called, everyMs);
  const step = stepAt(steps, place.value.query.get("entry"));
  const choose = (index?: number) => setQuery({ entry: index === undefined ? "" : String(index) });
  const search = useRef<HTMLInputElement>(null);
  useJournalKeys({ search, steps, step, waterfall, choose });
  if (!data) return <Unread {...{ error, refresh }} />;
  return (
    <div class={step ? "split open" : "split"}>
      <div>
        <div class="row">
          <Search {...{ search, find }} onFind={setFind} />
          <Legend {...waterfall} />
        </div>
        {steps.length > 1 && <Overview steps={steps} waterfall={waterfall} />}
        {data.isWhole || <Behind known={data.rows.length} size={row.journal_size} />}
        {shown.length === 0
          ? <Nothing isEmpty={steps.length === 0} find={find} onFind={setFind} />
          : <Steps {...{ rows, callees, waterfall, onFold }} onChoose={choose} />}
      </div>
      {step && <Chosen {...{ row, steps: shown.includes(step) ? shown : steps, step, choose }} />}
    </div>
  );
}

function Search({ search, find, onFind }: {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly find: string;
  readonly onFind: (text: string) => void;
}) {
  return (
    <input
      ref={search}
      type="search"
      aria-label="Find in the journal"
      placeholder="Find in the journal"
      maxLength={FIND_MAX}
      value={find}
      onInput={({ currentTarget }) => onFind(currentTarget.value)}
    />
  );
}

/** Why there is no step, and a way back if it is the search. */
function Nothing({ isEmpty, find, onFind }: {
  readonly isEmpty: boolean;
  readonly find: string;
  readonly onFind: (text: string) => void;
}) {
  return (
    <Empty title={isEmpty ? EMPTY : "No step is like that."}>
      {!isEmpty && find !== "" && (
        <button type="button" onClick={() => onFind("")}>
          Without <bdi>{find}</bdi>
        </button>
      )}
    </Empty>
  );
}

function Unread({ error, refresh }: Pick<Used<unknown>, "error" | "refresh">) {
  if (error) return <Failed error={error} onRetry={refresh} />;
  return <p class="loading" role="status">Loading…</p>;
}

/** The chosen step, from which keys lead to the others. */
function Chosen({ row, steps, step, choose }: {
  readonly row: Whole;
  readonly steps: readonly Step[];
  readonly step: Step;
  readonly choose: (index?: number) => void;
}) {
  return (
    <Entry
      key={step.index}
      {...{ row, step }}
      onMove={(by) => choose((steps[steps.indexOf(step) + by] ?? step).index)}
      onClose={() => choose()}
    />
  );
}

/** The step of an entry: what it begins or ends, else the one before it. */
function stepAt(steps: readonly Step[], entry: string | null): Step | undefined {
  if (entry === null || !/^\d+$/.test(entry)) return undefined;
  const at = Number(entry);
  return steps.find(({ index, resultIndex }) => index === at || resultIndex === at) ??
    steps.findLast(({ index }) => index < at);
}

/** The rows of the list: calls that are open have the steps of what they called behind them. */
function useRows(steps: readonly Step[], everyMs: number) {
  const [open, setOpen] = useState<OpenRows>(new Map());
  const nested = useNested(open, everyMs);
  const rows = useMemo(() => rowsOf(steps, open, nested), [steps, open, nested]);
  const onFold = ({ id, step: { callee = "" } }: Row) => {
    const others = [...open].filter(([one]) => one !== id);
    setOpen(new Map(open.has(id) ? others : [...others, [id, callee]]));
  };
  return { rows, onFold };
}

function useJournalKeys({ search, steps, step, waterfall: { failures }, choose }: {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly steps: readonly Step[];
  readonly step: Step | undefined;
  readonly waterfall: Waterfall;
  readonly choose: (index: number) => void;
}): void {
  const nextError = () => {
    const failed = steps.filter(({ index, result }) => result === "failure" || failures.has(index));
    const next = failed.find(({ index }) => index > (step?.index ?? -1)) ?? failed[0];
    if (next) choose(next.index);
  };
  useKeys("Journal", {
    "/": { label: "Find in the journal", run: () => search.current?.focus() },
    "e": { label: "Next error", run: nextError },
  });
}

/** The others of a long journal follow its first entries. */
function Behind({ known, size }: { readonly known: number; readonly size: Int | undefined }) {
  const all = size === undefined ? "" : ` of ${size}`;
  return (
    <p class="quiet" role="status">These are the first {known}{all} entries. The others follow.</p>
  );
}

const NONE: readonly Step[] = [];
const EMPTY = "It has no journal: it has not begun, or its journal is no longer kept.";
