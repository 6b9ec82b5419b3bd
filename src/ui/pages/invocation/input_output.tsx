import { Empty, Failed } from "../../widgets/empty.tsx";
import { Json, LongText } from "../../widgets/json_tree.tsx";
import { type FullEntry, useEntries, useJournal, type Whole } from "./data.ts";
import { valueOf } from "./steps.ts";

/** What it was called with, and what it answered. */
export function InputOutput({ row, everyMs }: { readonly row: Whole; readonly everyMs: number }) {
  const journal = useJournal(row.id, everyMs);
  const indexes = (journal.data ?? [])
    .filter(({ entry_type: type }) => /: (Input|Output)$/.test(type))
    .map(({ index }) => Number(index));
  const { data, error, refresh } = useEntries(row.id, indexes);
  if (journal.data?.length === 0) {
    return <Empty title="It has no journal: it has not begun, or its journal is no longer kept." />;
  }
  return (
    <>
      {error && <Failed error={error} onRetry={refresh} />}
      {data?.map((entry) => <One key={entry.index} entry={entry} />)}
      {row.completion_failure !== undefined && (
        <section>
          <h2>Failure</h2>
          <p class="failure">
            <LongText text={row.completion_failure} />
          </p>
        </section>
      )}
      {row.status !== "completed" && <p class="quiet">It has not answered yet.</p>}
    </>
  );
}

/** Without its members in a file without values. */
interface Input {
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly payload?: readonly number[];
}

function One({ entry }: { readonly entry: FullEntry }) {
  const { Input: input, Output: output } = commandOf(entry);
  const bytes = input?.payload ?? output?.result.Success;
  const headers = input?.headers ?? [];
  return (
    <section>
      <h2>{input ? "Input" : "Output"}</h2>
      {input && !bytes && <p class="quiet">It was left out.</p>}
      {bytes && bytes.length === 0 && <p class="quiet">It is empty.</p>}
      {bytes && bytes.length > 0 && (
        <Json text={textOf(bytes)} label={input ? "the input" : "the output"} />
      )}
      {headers.length > 0 && (
        <dl class="facts">
          {headers.map(({ name, value }) => (
            <>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}

function commandOf({ entry_json: json = "{}" }: FullEntry) {
  const { Command = {} } = JSON.parse(json) as {
    Command?: { Input?: Input; Output?: { result: { Success?: readonly number[] } } };
  };
  return Command;
}

/** Bytes as the text of JSON. */
function textOf(bytes: readonly number[]): string {
  const value = valueOf(bytes);
  return typeof value === "string" ? value : JSON.stringify(value);
}
