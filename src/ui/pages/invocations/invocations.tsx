import { useMemo, useState } from "preact/hooks";
import { query } from "../../data/client.ts";
import { type Invocation, invocationsOf } from "../../data/invocations.ts";
import { askPages, type Pages, type PagesOptions, usePages } from "../../data/pages.ts";
import { place, setQuery } from "../../state/router.ts";
import { Failed } from "../../widgets/empty.tsx";
import { FilterLine } from "../../widgets/filter_line.tsx";
import { Page } from "../../widgets/page.tsx";
import { Batch } from "./batch.tsx";
import { Counts } from "./counts.tsx";
import { compileFilter, FIELDS, type Filter } from "./fields.ts";
import { Peek } from "./peek.tsx";
import { Rows } from "./rows.tsx";
import { type Order, PAGE_ROWS, pageOf } from "./statements.ts";
import { Columns, Views } from "./views.tsx";

const MINUTE_MS = 60_000;

/** The filter of the address. Ages in it are of the current minute, so that pages share it. */
function filterOfPlace() {
  const text = place.value.query.get("filter") ?? "";
  const order: Order = place.value.query.get("order") === "oldest" ? "oldest" : "newest";
  return { text, order, minute: Math.floor(Date.now() / MINUTE_MS) };
}

/** The filter of the address, compiled. */
function useFilter() {
  const { text, order, minute } = filterOfPlace();
  const filter = useMemo(() => compileFilter(text, minute * MINUTE_MS), [text, minute]);
  const counted = useMemo(() => compileFilter(text, minute * MINUTE_MS, "status"), [text, minute]);
  return { text, order, filter, counted };
}

/** Asks for the first rows. */
export function ask(): void {
  const { text, order, minute } = filterOfPlace();
  askPages(rowsOf(order, compileFilter(text, minute * MINUTE_MS)));
}

function rowsOf(
  order: Order,
  { conditions }: Filter,
): Pick<PagesOptions<Invocation>, "key" | "load"> {
  return {
    key: pageOf(conditions, order, undefined).text,
    load: (after, signal) => query(pageOf(conditions, order, after), signal),
  };
}

function useRows(order: Order, filter: Filter): Pages<Invocation> {
  return usePages<Invocation>({
    ...rowsOf(order, filter),
    reload: invocationsOf,
    idOf: ({ id }) => id,
    isOpen: ({ status }) => status !== "completed",
    size: PAGE_ROWS,
  });
}

/** All invocations: filtered, counted, followed, and what can be done to many of them. */
export default function Invocations() {
  const { text, order, filter, counted } = useFilter();
  const pages = useRows(order, filter);
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const peeked = place.value.query.get("peek") ?? undefined;
  const peek = (id?: string) => setQuery({ peek: id });
  const onFilter = (next: string) => {
    select(new Set());
    setQuery({ filter: next, peek: undefined });
  };
  return (
    <Page title="Invocations" actions={<Sort order={order} pages={pages} />}>
      <FilterLine
        label="Filter invocations"
        fields={FIELDS}
        text={text}
        problems={filter.problems}
        onChange={onFilter}
      />
      <Counts {...{ text, onFilter }} {...counted} isOn={pages.rows !== undefined} />
      {pages.error && <Failed error={pages.error} onRetry={pages.refresh} />}
      <div class={peeked === undefined ? "split" : "split open"}>
        <Rows
          {...{ pages, order, text, selected, onFilter }}
          onSelect={select}
          onPeek={(id) => peek(id === peeked ? undefined : id)}
        />
        {peeked !== undefined && <Peek id={peeked} onClose={() => peek()} />}
      </div>
      <Batch
        selected={selected}
        conditions={filter.conditions}
        text={text}
        onDone={() => select(new Set())}
      />
    </Page>
  );
}

function Sort({ order, pages }: { readonly order: Order; readonly pages: Pages<Invocation> }) {
  return (
    <>
      <span role="status">
        {pages.newCount > 0 && (
          <button type="button" class="primary" onClick={pages.showNew}>
            {pages.newCount === PAGE_ROWS ? `${PAGE_ROWS} or more` : pages.newCount} new
          </button>
        )}
      </span>
      <label>
        Order{" "}
        <select
          value={order}
          onChange={({ currentTarget }) =>
            setQuery({ order: currentTarget.value === "oldest" ? "oldest" : undefined })}
        >
          <option value="newest">Newest first</option>
          <option value="oldest">Oldest first</option>
        </select>
      </label>
      <Views />
      <Columns />
      <a href="file">Open a file</a>
    </>
  );
}
