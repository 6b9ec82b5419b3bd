import { place, setQuery } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Empty } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Copy } from "../../widgets/id.tsx";
import { Json } from "../../widgets/json_tree.tsx";
import { save } from "../../widgets/save.ts";
import { Grid } from "./grid.tsx";
import { csvOf, type Result } from "./run.ts";

const [KB, MB] = [1_000, 1_000_000];

/** What a statement answered, as a table or as JSON, with what it cost, to save and to copy. */
export function Outcome({ result, isOld }: {
  readonly result: Result;
  /** A newer statement runs. */
  readonly isOld: boolean;
}) {
  const isJson = place.value.query.get("as") === "json";
  const { rows, ms, bytes, text, warnings, columns } = result;
  return (
    <section aria-label="Result" class={isOld ? "outcome quiet" : "outcome"}>
      <div class="actions">
        <span role="status">
          {rows.length} {rows.length === 1 ? "row" : "rows"} · {durationText(ms)} ·{" "}
          {sizeText(bytes)}
        </span>
        <button type="button" onClick={() => setQuery({ as: isJson ? undefined : "json" })}>
          {isJson ? "As a table" : "As JSON"}
        </button>
        <button type="button" onClick={() => save("rows.csv", "text/csv", csvOf(result))}>
          CSV
        </button>
        <button type="button" onClick={() => save("rows.json", "application/json", text)}>
          JSON
        </button>
        <Copy text={text} label="the rows as JSON" />
      </div>
      {warnings.map((one) => (
        <p key={one} role="note">
          <Icon name="warning" /> {one}
        </p>
      ))}
      {rows.length === 0 && <Empty title="No rows." />}
      {rows.length > 0 && (isJson ? <Json text={text} label="Rows" /> : <Grid result={result} />)}
      {columns.length > 0 && <small>A column that is null in every row is absent.</small>}
    </section>
  );
}

function sizeText(bytes: number): string {
  if (bytes < KB) return `${bytes} B`;
  return bytes < MB ? `${(bytes / KB).toFixed(1)} kB` : `${(bytes / MB).toFixed(1)} MB`;
}
