import { Json, LongText } from "../../widgets/json_tree.tsx";
import type { FileState as Entry, InvocationFile } from "../invocation/export/file.ts";
import { valueOf } from "../invocation/steps.ts";

/** Keys that are shown. */
const KEYS_MAX = 1_000;

/** The state of the object or workflow at the moment at which the file was saved. */
export function FileState({ file: { state } }: { readonly file: InvocationFile }) {
  if (state.length === 0) return <p>It had no state.</p>;
  return (
    <>
      <dl class="entries">
        {state.slice(0, KEYS_MAX).map((entry) => (
          <div key={entry.key}>
            <dt>
              <LongText text={entry.key} /> <small>{String(entry.value_length)} B</small>
            </dt>
            <dd>
              <Value entry={entry} />
            </dd>
          </div>
        ))}
      </dl>
      {state.length > KEYS_MAX && <p>and {state.length - KEYS_MAX} more keys</p>}
    </>
  );
}

function Value({ entry: { key, value } }: { readonly entry: Entry }) {
  if (value === undefined) return <span class="quiet">left out</span>;
  const bytes = Array.from(
    { length: value.length / 2 },
    (_, at) => parseInt(value.slice(at * 2, at * 2 + 2), 16),
  );
  const shown = valueOf(bytes);
  const text = typeof shown === "string" ? shown : JSON.stringify(shown);
  return <Json text={text} label={`value of ${key}`} />;
}
