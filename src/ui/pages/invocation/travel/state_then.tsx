import { useMemo } from "preact/hooks";
import { Failed } from "../../../widgets/empty.tsx";
import { isPerdure } from "../../../data/server.ts";
import { useEntries, type Whole } from "../data.ts";
import type { EntryRow } from "../steps.ts";
import { beginningOf, type Found, type Sources, withBeginning } from "./beginning.ts";
import { FoundSource, FoundValue, useFoundValues } from "./found.tsx";
import { useSources } from "./read_beginning.ts";
import { contentOf, factsOf, type Known, stateAt } from "./state_at.ts";
import { Value } from "./value.tsx";

/** Keys that are shown, and reads of all keys that are used. */
const [KEYS_MAX, LISTS_MAX] = [100, 20];

/** The state of its object or workflow, as it was right behind an entry. */
export function StateThen({ row, journal, at }: {
  readonly row: Whole;
  readonly journal: readonly EntryRow[];
  readonly at: number;
}) {
  return (
    <section aria-labelledby="state-then">
      <h2 id="state-then">State then</h2>
      {row.target_service_ty === "service"
        ? <p class="quiet">A service has no state.</p>
        : <Keys row={row} journal={journal} at={at} />}
    </section>
  );
}

interface KeysProps {
  readonly row: Whole;
  readonly journal: readonly EntryRow[];
  readonly at: number;
}

function Keys(props: KeysProps) {
  const { row, at } = props;
  const { known, isWhole, isRead } = useStateAt(props);
  const shown = known.slice(0, KEYS_MAX);
  const wanted = shown.flatMap((one) => one.kind === "value" ? [one.valueIndex] : []);
  const { data, error, refresh } = useEntries(row.id, wanted);
  const values = new Map(data?.map((entry) => [Number(entry.index), entry.entry_json]));
  const found = useFoundValues(shown.filter(isFound));
  return (
    <>
      {error && <Failed error={error} onRetry={refresh} />}
      <dl class="entries">
        {shown.map((one) => (
          <div key={one.key}>
            <dt>
              <bdi>{one.key}</bdi>{" "}
              <small>{isFound(one) ? <FoundSource found={one} /> : sourceOf(one, at)}</small>
            </dt>
            <dd>
              {isFound(one)
                ? <FoundValue found={one} values={found} />
                : one.kind === "value"
                ? <Value name={one.key} json={values.get(one.valueIndex)} />
                : <span class="quiet">{isRead ? WORDS[one.kind] : READING[one.kind]}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {known.length === 0 && isWhole && <p class="quiet">It had no state.</p>}
      {known.length > KEYS_MAX && <p>and {known.length - KEYS_MAX} more keys</p>}
      {known.length > 0 && isWhole && <p class="quiet">It had no other keys.</p>}
      {!isRead && <p class="loading" role="status">Reading what was before…</p>}
      {!isWhole && isRead && <p class="quiet">{PARTIAL}</p>}
      {known.some(isFound) && !isPerdure() && <p class="quiet">{UNRECORDED}</p>}
    </>
  );
}

const isFound = (one: Known | Found): one is Found =>
  one.kind === "now" || one.kind === "run" || one.kind === "void";

/**
 * The state behind an entry. The names that reads of all keys found are asked for first, and what else is
 * known of the beginning.
 */
function useStateAt({ row, journal, at }: KeysProps) {
  const facts = useMemo(() => factsOf(journal), [journal]);
  const lists = facts.filter(({ kind }) => kind === "keys").slice(0, LISTS_MAX)
    .map(({ valueIndex }) => valueIndex);
  const { data, error } = useEntries(row.id, lists);
  const names = useMemo(() => new Map(data?.map(nameEntry)), [data]);
  const sources = useSources(row);
  const beginning = useMemo(() => beginningOf(facts, sources ?? NOTHING), [facts, sources]);
  const state = useMemo(() => withBeginning(stateAt(facts, at, names), beginning), [
    ...[facts, at, names, beginning],
  ]);
  const hasNames = lists.length === 0 || data !== undefined || error !== undefined;
  // Before, what is not known yet looks as if nothing knew it.
  return { ...state, isRead: hasNames && sources !== undefined };
}

const NOTHING: Sources = { runs: [] };

const PARTIAL =
  "Other keys are not known: neither this journal nor those of the runs before it say " +
  "what was there.";

const UNRECORDED =
  "This server does not record who edits states: an edit by an operator between these runs is not seen.";

/** Of what may still be found in the runs before, or in the state of now. */
const READING: Readonly<Record<Exclude<Known["kind"], "value">, string>> = {
  absent: "not set",
  present: "set, its value is being read",
  unknown: "being read",
};

const WORDS: Readonly<Record<Exclude<Known["kind"], "value">, string>> = {
  absent: "not set",
  present: "set, its value is not known",
  unknown: "not known",
};

/** By which entry it is known. */
function sourceOf(known: Known, position: number): string {
  const { kind, at } = known;
  if (kind === "unknown") return `first written at entry ${at}`;
  if (kind === "present") return `listed at entry ${at}`;
  const verb = { set: "set", clear: "cleared", read: "read", keys: "listed" }[known.by];
  return `${verb} at entry ${at}${at > position ? ", later" : ""}`;
}

function nameEntry(entry: { readonly index: number | string; readonly entry_json?: string }) {
  const names = contentOf(entry.entry_json);
  return [Number(entry.index), Array.isArray(names) ? names.map(String) : []] as const;
}
