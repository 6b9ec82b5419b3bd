import { useState } from "preact/hooks";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { Failed } from "../../widgets/empty.tsx";
import { sizeText } from "./size.ts";
import { StateEditor } from "./state_editor.tsx";
import { StateValue } from "./state_value.tsx";
import { ENTRIES_MAX, type Keyed, stateOf, type StateRow } from "./statements.ts";

/** The state of a key as a tree, with the sizes of its entries, and its editor. */
export function StateView({ keyed }: { readonly keyed: Keyed }) {
  const state = useQuery<StateRow>(stateOf(keyed), {
    everyMs: EVERY_MS.list,
    about: { service: keyed.service },
  });
  const [isEditing, edit] = useState(false);
  const rows = state.data?.slice(0, ENTRIES_MAX);
  const bytes = rows?.reduce((sum, { value_length: length }) => sum + Number(length), 0) ?? 0;
  return (
    <section aria-labelledby="state">
      <div class="row">
        <h2 id="state">State</h2>
        {rows && (
          <span class="quiet">
            {rows.length === 1 ? "1 entry" : `${rows.length} entries`}, {sizeText(bytes)}
          </span>
        )}
        {rows && !isEditing && (
          <button type="button" onClick={() => edit(true)}>
            Edit state…
          </button>
        )}
      </div>
      {state.error && <Failed error={state.error} onRetry={state.refresh} />}
      {isEditing
        ? <StateEditor keyed={keyed} onClose={() => edit(false)} />
        : rows && <Entries rows={rows} />}
      {(state.data?.length ?? 0) > ENTRIES_MAX && (
        <p class="quiet">These are the first {ENTRIES_MAX}. The page SQL shows all.</p>
      )}
    </section>
  );
}

function Entries({ rows }: { readonly rows: readonly StateRow[] }) {
  if (rows.length === 0) return <p class="quiet">It has no state.</p>;
  return (
    <dl class="entries">
      {rows.map((row) => (
        <div key={row.key}>
          <dt>
            <bdi>{row.key}</bdi> <small>{sizeText(Number(row.value_length))}</small>
          </dt>
          <dd>
            <StateValue row={row} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
