import { Empty, Failed } from "../../widgets/empty.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Ago, Moment } from "../../widgets/time.tsx";
import { type EventRow, failureIn, useEvents, type Whole } from "./data.ts";

/** Attempts that failed, and pauses, the newest first. */
export function Errors({ row, everyMs }: { readonly row: Whole; readonly everyMs: number }) {
  const { data, error, refresh } = useEvents(row.id, everyMs);
  if (error && !data) return <Failed error={error} onRetry={refresh} />;
  if (!data) return <p class="loading" role="status">Loading…</p>;
  return (
    <>
      {row.last_failure !== undefined && (
        <section>
          <h2>Last failure</h2>
          <p class="failure">
            <LongText text={row.last_failure} />
          </p>
        </section>
      )}
      {data.length === 0 ? <Empty title="No attempt failed." /> : (
        <ol class="events">
          {data.map((event) => <One key={event.appended_at} event={event} />)}
        </ol>
      )}
    </>
  );
}

function One({ event }: { readonly event: EventRow }) {
  const failure = failureIn(event);
  const { related_command_type: type, related_command_name: name, error_message = "" } = failure;
  return (
    <li>
      <strong>{titleOf(event)}</strong> <Ago at={event.appended_at} />{" "}
      <span class="quiet">
        after entry {String(event.after_journal_entry_index)}, <Moment at={event.appended_at} />
      </span>
      <p>
        {type !== undefined && <code>{type} {name}</code>} [{failure.error_code ?? "?"}]{" "}
        <LongText text={error_message} />
      </p>
      {failure.error_stacktrace !== undefined && (
        <details>
          <summary>Stack trace</summary>
          <pre><LongText text={failure.error_stacktrace} /></pre>
        </details>
      )}
    </li>
  );
}

/** Attempts that failed in the same way before the next event are not told one by one. */
function titleOf({ event_type: type, failed_attempts: count }: EventRow): string {
  if (type === "Paused") return "Paused";
  return count === undefined ? "Attempt failed" : `Attempt ${count} failed`;
}
