import { useMemo } from "preact/hooks";
import { place, setQuery } from "../../../state/router.ts";
import { durationText } from "../../../widgets/duration.ts";
import { Empty, Failed } from "../../../widgets/empty.tsx";
import { Moment } from "../../../widgets/time.tsx";
import { useEntries, useEvents, useJournal, type Whole } from "../data.ts";
import { EntryValues, RestartFrom } from "../entry.tsx";
import { type EntryRow, type Step, stepsOf } from "../steps.ts";
import {
  attemptText,
  awaitedAt,
  type ByEntry,
  byEntry,
  failuresBefore,
  nameOf,
} from "./moments.ts";
import { Slider } from "./slider.tsx";
import { StateThen } from "./state_then.tsx";

interface Props {
  readonly row: Whole;
  readonly everyMs: number;
}

/** Where the handler was at each entry of its journal. The entry is in the address. */
export function Travel({ row, everyMs }: Props) {
  const { data, error, refresh } = useJournal(row.id, everyMs);
  if (error && !data) return <Failed error={error} onRetry={refresh} />;
  if (!data) return <p class="loading" role="status">Loading…</p>;
  if (data.length === 0) {
    return <Empty title="It has no journal: it has not begun, or its journal is no longer kept." />;
  }
  return <Positions row={row} everyMs={everyMs} journal={data} />;
}

interface PositionsProps extends Props {
  readonly journal: readonly EntryRow[];
}

function Positions({ row, everyMs, journal }: PositionsProps) {
  const { data: events = [] } = useEvents(row.id, everyMs);
  const entries = useMemo(() => byEntry(stepsOf(journal)), [journal]);
  const last = journal.length - 1;
  // Without an entry in the address it follows the end.
  const positionOf = (entry: string) => /^\d+$/.test(entry) ? Math.min(Number(entry), last) : last;
  const at = positionOf(place.value.query.get("entry") ?? "");
  const counted = countedOf(row, entries.steps);
  const attemptAt = (position: number) => {
    const isCommand = entries.of.get(position)?.index === position;
    return attemptText(failuresBefore(events, position, { ...counted, isCommand }));
  };
  const textOf = (position: number) =>
    `${nameOf(entries.of.get(position), position)}, ${attemptAt(position)}`;
  return (
    <>
      <Slider last={last} positionOf={positionOf} textOf={textOf} />
      <section class="travel" aria-label="At this entry">
        <Heading row={row} journal={journal} at={at} attempt={attemptAt(at)} entries={entries} />
        <div class="travel-parts">
          <Values id={row.id} step={entries.of.get(at)} at={at} />
          <Awaited steps={awaitedAt(entries.steps, at)} />
          <StateThen row={row} journal={journal} at={at} />
        </div>
      </section>
    </>
  );
}

/** One that ended without an output may have used up its attempts. */
function countedOf({ failed_attempts: failed, status }: Whole, steps: readonly Step[]) {
  const isGivenUp = status === "completed" && !steps.some(({ type }) => type === "Output");
  return { failed, isGivenUp };
}

const goTo = (position: number) => setQuery({ entry: String(position) });

function Heading({ row, journal, at, attempt, entries }: {
  readonly row: Whole;
  readonly journal: readonly EntryRow[];
  readonly at: number;
  readonly attempt: string;
  readonly entries: ByEntry;
}) {
  const moment = journal[at]?.appended_at;
  const first = journal[0]?.appended_at;
  const ms = moment && first ? Date.parse(moment) - Date.parse(first) : 0;
  return (
    <>
      <div class="row">
        <h2 class="code">
          <bdi>{nameOf(entries.of.get(at), at)}</bdi>
        </h2>
        <RestartFrom row={row} index={at} />
      </div>
      <p class="quiet">
        Entry {at}, {attempt}, +{durationText(Math.max(0, ms))}, <Moment at={moment} />
      </p>
    </>
  );
}

/** The input of the step and what had come of it. */
function Values({ id, step, at }: {
  readonly id: string;
  readonly step: Step | undefined;
  readonly at: number;
}) {
  const { index = at, resultIndex } = step ?? {};
  const isThere = resultIndex !== undefined && resultIndex <= at;
  const indexes = isThere ? [index, resultIndex] : [index];
  const { data, error, refresh } = useEntries(id, indexes);
  const shown = data?.filter((entry) => indexes.includes(Number(entry.index)));
  return (
    <section>
      {error && <Failed error={error} onRetry={refresh} />}
      {shown?.map((entry) => <EntryValues key={entry.index} entry={entry} />)}
      {resultIndex !== undefined && !isThere && (
        <p>
          Its result came at <To position={resultIndex} />.
        </p>
      )}
    </section>
  );
}

/** A button to another entry. */
function To({ position }: { readonly position: number }) {
  return <button type="button" class="link" onClick={() => goTo(position)}>entry {position}
  </button>;
}

/** Steps that are listed; beyond, their number. */
const AWAITED_MAX = 50;

function Awaited({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <section aria-labelledby="awaited">
      <h2 id="awaited">Had no result yet</h2>
      {steps.length === 0 && <p class="quiet">Every step had its result.</p>}
      <ul class="plain">
        {steps.slice(0, AWAITED_MAX).map(({ index, code, resultIndex }) => (
          <li key={index}>
            <To position={index} />{" "}
            <code>
              <bdi>{code}</bdi>
            </code>
            {resultIndex !== undefined && (
              <span class="quiet">
                , until <To position={resultIndex} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {steps.length > AWAITED_MAX && <p>and {steps.length - AWAITED_MAX} more</p>}
    </section>
  );
}
