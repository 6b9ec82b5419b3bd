import { useKeys } from "../../state/keys.ts";
import { Failed } from "../../widgets/empty.tsx";
import { Json } from "../../widgets/json_tree.tsx";
import { Moment } from "../../widgets/time.tsx";
import { statusOf } from "../../widgets/status.tsx";
import { actOnOne } from "../../data/act.ts";
import { type FullEntry, useEntries, type Whole } from "./data.ts";
import { useOpened } from "./opened.ts";
import { readable, type Step } from "./steps.ts";

/** A step with its values: what was sent, and what came of it. */
export function Entry({ row, step, onMove, onClose }: {
  readonly row: Whole;
  readonly step: Step;
  /** To a step so many behind this one, or before it. */
  readonly onMove: (by: number) => void;
  readonly onClose: () => void;
}) {
  const { index, resultIndex } = step;
  const indexes = resultIndex === undefined ? [index] : [index, resultIndex];
  const { data, error, refresh } = useEntries(row.id, indexes);
  useKeys("Step", {
    "[": { label: "Step before", run: () => onMove(-1) },
    "]": { label: "Next step", run: () => onMove(1) },
  });
  return (
    <aside class="peek" aria-label="Chosen step">
      <div class="actions">
        <strong>
          <bdi>{step.code}</bdi>
        </strong>
        <button type="button" onClick={onClose}>Close</button>
        <RestartFrom row={row} index={index} />
      </div>
      {error && <Failed error={error} onRetry={refresh} />}
      {data?.map((entry) => <EntryValues key={entry.index} entry={entry} />)}
    </aside>
  );
}

/** Restarts with the journal up to an entry. Nothing where the server would refuse it. */
export function RestartFrom({ row, index }: { readonly row: Whole; readonly index: number }) {
  const isFile = useOpened() !== undefined;
  const isEnded = row.status === "completed";
  if (isFile || !isEnded || row.target_service_ty === "workflow" || statusOf(row) === "killed") {
    return null;
  }
  return (
    <button
      type="button"
      onClick={() => void actOnOne(RESTART, row.id, () => {}, `from=${index}`)}
    >
      Restart from here
    </button>
  );
}

const RESTART = { verb: "restart-as-new", label: "Restart" } as const;

/** What an entry has, as a tree. */
export function EntryValues({ entry }: { readonly entry: FullEntry }) {
  return (
    <section>
      <h2>{entry.entry_type}</h2>
      <p class="quiet">
        Entry {String(entry.index)}, <Moment at={entry.appended_at} />
      </p>
      <Json text={textOf(entry)} label={`entry ${entry.index}`} />
    </section>
  );
}

type Wrapped = Readonly<Record<string, unknown>>;

/** What is around an entry and its kind, which the heading says already. */
const WRAPPERS = ["Command", "Notification", "Completion"];

/** The entry as JSON, values decoded, without what is around it. */
function textOf({ entry_json: json, raw = "" }: FullEntry): string {
  if (json === undefined) return raw;
  let inner = readable(JSON.parse(json)) as Wrapped;
  for (const wrapper of WRAPPERS) inner = (inner[wrapper] ?? inner) as Wrapped;
  return JSON.stringify(Object.values(inner)[0] ?? inner);
}
