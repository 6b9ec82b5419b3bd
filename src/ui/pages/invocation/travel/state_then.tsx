import { useMemo } from "preact/hooks";
import { Failed } from "../../../widgets/empty.tsx";
import { Json } from "../../../widgets/json_tree.tsx";
import { useEntries, type Whole } from "../data.ts";
import { type EntryRow, valueOf } from "../steps.ts";
import { contentOf, factsOf, type Known, stateAt } from "./state_at.ts";

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
        : <Keys id={row.id} journal={journal} at={at} />}
    </section>
  );
}

interface KeysProps {
  readonly id: string;
  readonly journal: readonly EntryRow[];
  readonly at: number;
}

function Keys(props: KeysProps) {
  const { id, at } = props;
  const { known, isWhole } = useStateAt(props);
  const shown = known.slice(0, KEYS_MAX);
  const wanted = shown.flatMap((one) => one.kind === "value" ? [one.valueIndex] : []);
  const { data, error, refresh } = useEntries(id, wanted);
  const values = new Map(data?.map((entry) => [Number(entry.index), entry.entry_json]));
  return (
    <>
      {error && <Failed error={error} onRetry={refresh} />}
      <dl class="entries">
        {shown.map((one) => (
          <div key={one.key}>
            <dt>
              <bdi>{one.key}</bdi> <small>{sourceOf(one, at)}</small>
            </dt>
            <dd>
              {one.kind === "value"
                ? <Value name={one.key} json={values.get(one.valueIndex)} />
                : <span class="quiet">{WORDS[one.kind]}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {known.length > KEYS_MAX && <p>and {known.length - KEYS_MAX} more keys</p>}
      <p class="quiet">{isWhole ? "It had no other keys." : PARTIAL}</p>
    </>
  );
}

/** The state behind an entry. The names that reads of all keys found are asked for first. */
function useStateAt({ id, journal, at }: KeysProps) {
  const facts = useMemo(() => factsOf(journal), [journal]);
  const lists = facts.filter(({ kind }) => kind === "keys").slice(0, LISTS_MAX)
    .map(({ valueIndex }) => valueIndex);
  const { data } = useEntries(id, lists);
  const names = useMemo(() => new Map(data?.map(nameEntry)), [data]);
  return useMemo(() => stateAt(facts, at, names), [facts, at, names]);
}

const PARTIAL =
  "Other keys are not known: a journal has what its handler read and wrote, and not " +
  "the state of the beginning.";

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

function Value({ name, json }: { readonly name: string; readonly json: string | undefined }) {
  if (json === undefined) return <span class="loading">Loading…</span>;
  const bytes = contentOf(json);
  if (bytes === undefined) return <span class="quiet">left out</span>;
  const value = Array.isArray(bytes) ? valueOf(bytes as number[]) : bytes;
  return (
    <Json
      text={typeof value === "string" ? value : JSON.stringify(value)}
      label={`value of ${name}`}
    />
  );
}
