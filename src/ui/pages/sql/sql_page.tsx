import { useEffect, useRef, useState } from "preact/hooks";
import { NO_ROUTE } from "../../data/client.ts";
import { useKeys } from "../../state/keys.ts";
import { place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { Editor, insertAt } from "./editor.tsx";
import { forget, keep, statements } from "./past.ts";
import { PRESETS } from "./presets.ts";
import { Outcome } from "./outcome.tsx";
import { useStatement } from "./run.ts";
import { Schema, useTables } from "./schema.tsx";
import { Views } from "./views.tsx";

/** SQL about everything that is stored. The statement that was run is in the address. */
export default function SqlPage() {
  const asked = place.value.query.get("q") ?? "";
  const [text, type] = useState(asked === "" ? PRESETS[0]!.text : asked);
  const field = useRef<HTMLTextAreaElement>(null);
  const { tables, used } = useTables();
  const { result, error, isBusy, run, stop } = useStatement();
  const start = (statement: string) => {
    if (statement.trim() === "") return;
    type(statement);
    keep(statement);
    setQuery({ q: statement });
    void run(statement);
  };
  useEffect(() => {
    if (asked !== "") start(asked);
  }, []);
  useKeys("SQL", { "ctrl+Enter": { label: "Run the statement", run: () => start(text) } });
  const isMissing = NO_ROUTE.includes((error ?? used.error)?.status ?? 0);
  if (isMissing) return <Missing />;
  return (
    <Page title="SQL">
      <div class="sql">
        <div class="sql-main">
          <Editor {...{ text, tables, field }} onChange={type} onRun={() => start(text)} />
          <Tools {...{ text, isBusy, stop }} onRun={start} onTake={type} />
          {error && <Failed error={error} />}
          {result && <Outcome result={result} isOld={isBusy} />}
        </div>
        <aside class="sql-side" aria-label="Schema and earlier statements">
          {used.error && <Failed error={used.error} onRetry={used.refresh} />}
          <Schema
            tables={tables}
            onTake={(name) => field.current && type(insertAt(field.current, name))}
          />
          <Earlier onTake={start} />
        </aside>
      </div>
    </Page>
  );
}

function Missing() {
  return (
    <Page title="SQL">
      <Empty title="This server answers no SQL: it has no POST /query.">
        <p>Pages that count and search have no data here, either.</p>
      </Empty>
    </Page>
  );
}

function Tools({ text, isBusy, stop, onRun, onTake }: {
  readonly text: string;
  readonly isBusy: boolean;
  readonly stop: () => void;
  readonly onRun: (statement: string) => void;
  readonly onTake: (statement: string) => void;
}) {
  return (
    <div class="actions">
      <button type="button" class="primary" onClick={() => onRun(text)}>
        Run <kbd>Ctrl+⏎</kbd>
      </button>
      {isBusy && <button type="button" onClick={stop}>Stop</button>}
      <select
        aria-label="Ready-made statements"
        value=""
        onChange={({ currentTarget }) => {
          const preset = PRESETS[Number(currentTarget.value)];
          currentTarget.value = "";
          if (preset) onTake(preset.text);
        }}
      >
        <option value="">Ready-made…</option>
        {PRESETS.map(({ title }, at) => <option key={title} value={String(at)}>{title}</option>)}
      </select>
      <Views text={text} onTake={onRun} />
    </div>
  );
}

/** What was run before in this browser. */
function Earlier({ onTake }: { readonly onTake: (statement: string) => void }) {
  if (statements.value.length === 0) return null;
  return (
    <details class="past">
      <summary>Earlier statements ({statements.value.length})</summary>
      <ul>
        {statements.value.map((one) => (
          <li key={one}>
            <button type="button" class="link" title={one} onClick={() => onTake(one)}>
              {one.replaceAll(/\s+/g, " ").slice(0, 80)}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={forget}>Forget all</button>
    </details>
  );
}
