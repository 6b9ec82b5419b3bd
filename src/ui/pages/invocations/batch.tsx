import { useState } from "preact/hooks";
import { undoOf } from "../../data/act.ts";
import { query } from "../../data/client.ts";
import {
  BATCH_MAX,
  type Command,
  commandMany,
  COMMANDS,
  messageOf,
  type Outcome,
} from "../../data/commands.ts";
import { type Invocation, statusIs } from "../../data/invocations.ts";
import { useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import { refreshAll } from "../../data/resource.ts";
import { join, type Sql, sql, where } from "../../data/sql.ts";
import { useKeys } from "../../state/keys.ts";
import { toast } from "../../state/toasts.ts";
import { Check } from "../../widgets/check.tsx";
import { Confirm } from "../../widgets/dialog.tsx";
import { FailedReads } from "../../widgets/empty.tsx";
import { idsOf } from "./statements.ts";

/** So many are killed only after the number was typed. */
const TYPED_ABOVE = 20;

export interface BatchProps {
  readonly selected: ReadonlySet<string>;
  /** Of the filter, and its text. */
  readonly conditions: readonly Sql[];
  readonly text: string;
  readonly onDone: () => void;
}

interface Question {
  readonly command: Command;
  /** Whether it is for everything that matches, and not for what is selected. */
  readonly isForAll: boolean;
}

/** What can be done to the selected ones, or to everything that the filter finds. */
export function Batch(props: BatchProps) {
  // Made anew for each selection: "everything" that was chosen for one is not meant for the next.
  return props.selected.size === 0 ? null : <Selection {...props} />;
}

function Selection({ selected, conditions, text, onDone }: BatchProps) {
  const [question, ask] = useState<Question>();
  const [isForAll, setForAll] = useState(false);
  useKeys(
    "Selected",
    Object.fromEntries(
      COMMANDS.map((
        command,
      ) => [command.key, { label: `${command.label}…`, run: () => ask({ command, isForAll }) }]),
    ),
  );
  return (
    <div class="batch" role="region" aria-label="What is selected">
      <span role="status">
        {isForAll ? "Everything that matches" : `${selected.size.toLocaleString()} selected`}
      </span>
      <Buttons onAsk={(command) => ask({ command, isForAll })} />
      <Check isOn={isForAll} onSet={setForAll}>
        Everything that matches <Criteria text={text} />, not only what is selected
      </Check>
      <button type="button" onClick={onDone}>Select none</button>
      {question && (
        <Ask
          {...{ question, selected, conditions, text, onDone }}
          onClose={() => ask(undefined)}
        />
      )}
    </div>
  );
}

/** The filter line as what a command hits. */
function Criteria({ text }: { readonly text: string }) {
  return (
    <code>
      <bdi>{text === "" ? "(no filter: all)" : text}</bdi>
    </code>
  );
}

function Buttons({ onAsk }: { readonly onAsk: (command: Command) => void }) {
  return (
    <>
      {COMMANDS.map((command) => (
        <button
          key={command.verb}
          type="button"
          class={command.isDangerous ? "danger" : undefined}
          onClick={() => onAsk(command)}
        >
          {command.label}…
        </button>
      ))}
    </>
  );
}

/** The conditions of what a command hits: what matches or is selected, in a status that allows it. */
function hitBy(
  { command, isForAll }: Question,
  conditions: readonly Sql[],
  ids: ReadonlySet<string>,
) {
  const allowed = sql`(${join(command.statuses.map(statusIs), " OR ")})`;
  return isForAll ? [...conditions, allowed] : [sql`id IN ${[...ids]}`, allowed];
}

function Ask({ question, selected, conditions, text, onDone, onClose }: BatchProps & {
  readonly question: Question;
  readonly onClose: () => void;
}) {
  const { command, isForAll } = question;
  const hit = hitBy(question, conditions, selected);
  const count = sql`SELECT count(*) AS n FROM sys_invocation ${where(hit)}`;
  const counted = useQuery<{ n: Int }>(count);
  const n = counted.data && Number(counted.data[0]?.n ?? 0);
  const isMany = command.verb === "kill" && n !== undefined && n > TYPED_ABOVE;
  return (
    <Confirm
      title={`${command.label} ${n?.toLocaleString() ?? "…"} ${
        n === 1 ? "invocation" : "invocations"
      }`}
      action={command.label}
      isKnown={n !== undefined}
      typed={isMany ? String(n) : undefined}
      onConfirm={() => {
        onDone();
        void run(command, hit);
      }}
      onClose={onClose}
    >
      <p>{command.about}</p>
      <FailedReads reads={[counted]} />
      <p>
        {isForAll
          ? "All that match "
          : `Of the ${selected.size} that are selected, those that are `}
        {isForAll && <Criteria text={text} />}
        {isForAll ? " and are " : ""}
        {command.statuses.join(", ")}: <strong>{n?.toLocaleString() ?? "counting…"}</strong>.
      </p>
    </Confirm>
  );
}

/** Does a command to everything that the conditions find, page by page, and says what became of it. */
async function run({ verb, label }: Command, conditions: readonly Sql[]): Promise<void> {
  try {
    let after: Pick<Invocation, "id" | "created_at"> | undefined;
    let outcome: Outcome = { succeeded: 0, failed: [] };
    const ids: string[] = [];
    for (;;) {
      const rows = await query<Pick<Invocation, "id" | "created_at">>(
        idsOf(conditions, after, BATCH_MAX),
      );
      const page = rows.map(({ id }) => id);
      const { succeeded, failed } = await commandMany(verb, page);
      ids.push(...page);
      const all = [...outcome.failed, ...failed];
      outcome = { succeeded: outcome.succeeded + succeeded, failed: all };
      after = rows.at(-1);
      if (rows.length < BATCH_MAX) break;
    }
    tell(label, outcome, undoOf(verb, ids, outcome.failed));
  } catch (cause) {
    toast("failed", `${label}: ${messageOf(cause)}`);
  }
  refreshAll();
}

function tell(
  label: string,
  { succeeded, failed }: Outcome,
  undo: ReturnType<typeof undoOf>,
): void {
  if (succeeded > 0 || failed.length === 0) {
    toast("done", `${label}: done for ${succeeded.toLocaleString()}`, undo);
  }
  const [first] = failed;
  if (first) toast("failed", `${label}: ${failed.length} refused. The first: ${first.error}`);
}
