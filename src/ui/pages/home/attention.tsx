import { useRef, useState } from "preact/hooks";
import { actOn, change } from "../../data/act.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { inOrder } from "../../widgets/steady.tsx";
import { Age } from "../../widgets/time.tsx";
import type { Action, Cause } from "./causes.ts";

/** Causes that are shown at first. */
const SHOWN = 12;

/** An action that is asked about, because it is done to many invocations. */
type Question = Extract<Action, { readonly kind: "invocations" }>;

/** What needs attention, by cause, with what can be done about it. */
export function Attention({ causes, isWhole, note }: {
  readonly causes: readonly Cause[];
  /** Whether there are no others: everything was read. Without that nothing is called quiet. */
  readonly isWhole: boolean;
  /** Said below: what the figures leave out. */
  readonly note?: string | undefined;
}) {
  const [isUnfolded, unfold] = useState(false);
  // Not by the line of its cause: that goes when what failed runs again, under the hands of who reads.
  const [question, ask] = useState<Question>();
  const { held, ...holding } = useHeldOrder(causes);
  const shown = isUnfolded ? held : held.slice(0, SHOWN);
  return (
    <section aria-labelledby="attention" {...holding}>
      <h2 id="attention">Needs attention</h2>
      {causes.length === 0 ? <Calm isWhole={isWhole} /> : (
        <ul class="causes">
          {shown.map((cause) => <CauseLine key={cause.id} cause={cause} ask={ask} />)}
        </ul>
      )}
      {causes.length > shown.length && (
        <button
          type="button"
          class="link"
          onClick={() => unfold(true)}
        >
          {causes.length - shown.length} more
        </button>
      )}
      {note !== undefined && <p class="quiet">{note}</p>}
      {question && <Asked question={question} onClose={() => ask(undefined)} />}
    </section>
  );
}

/** The causes in the order that they had when the pointer or the focus came. New ones are behind. */
function useHeldOrder(causes: readonly Cause[]) {
  const [isHeld, hold] = useState(false);
  const order = useRef<readonly string[]>([]);
  const idOf = ({ id }: Cause) => id;
  const known = new Set(order.current);
  const held = isHeld
    ? [...inOrder(order.current, causes, idOf), ...causes.filter(({ id }) => !known.has(id))]
    : causes;
  order.current = held.map(idOf);
  return {
    held,
    onPointerEnter: () => hold(true),
    onPointerLeave: () => hold(false),
    onFocusIn: () => hold(true),
    onFocusOut: () => hold(false),
  };
}

function Calm({ isWhole }: { readonly isWhole: boolean }) {
  if (!isWhole) return <p class="quiet">Not known: not everything could be read.</p>;
  return <p class="calm">Nothing: nothing fails, is paused or stands still.</p>;
}

interface CauseLineProps {
  readonly cause: Cause;
  readonly ask: (question: Question) => void;
}

function CauseLine({ cause, ask }: CauseLineProps) {
  const { icon, word, who, why, since, reason, count, unit, oldest, show, actions } = cause;
  return (
    <li>
      <span class={`status ${word}`}>
        <Icon name={icon} />
        <span>{word}</span>
      </span>
      <strong>
        <LongText text={who} />
      </strong>
      <span class="why">
        <LongText text={why} />
        {since !== undefined && (
          <>
            {" for "}
            <Age at={since} />
          </>
        )}
        {reason !== undefined && (
          <>
            , <Reason text={reason} />
          </>
        )}
      </span>
      <span class="number">{count !== undefined && `${count} ${unit}`}</span>
      <span class="quiet">
        {oldest !== undefined && (
          <>
            oldest <Age at={oldest} />
          </>
        )}
      </span>
      <span class="actions">
        <a href={show} aria-label={`Show ${who}`}>Show</a>
        {actions.map((action) => <Act key={action.label} {...{ action, who, ask }} />)}
      </span>
    </li>
  );
}

interface ActProps extends Pick<CauseLineProps, "ask"> {
  readonly action: Action;
  readonly who: string;
}

/** A button. What is done to invocations is asked about first, with its exact criteria. */
function Act({ action, who, ask }: ActProps) {
  const { label } = action;
  const run = () => {
    if (action.kind === "invocations") return ask(action);
    const { path, method, body } = action;
    void change(path, { method, body: body ?? {} }, `${label}: ${who}`);
  };
  return <button type="button" aria-label={`${label}: ${who}`} onClick={run}>{label}</button>;
}

function Asked({ question, onClose }: {
  readonly question: Question;
  readonly onClose: () => void;
}) {
  const { label, verb, criteria, about } = question;
  return (
    <Confirm
      title={label}
      action={label}
      onClose={onClose}
      onConfirm={() => void actOn(verb, criteria, about)}
    >
      <p class="text">To {about}: all that there are at that moment.</p>
      <p class="quiet">They are those with</p>
      <code class="text">{criteria.map(({ text }) => text).join("\nAND ")}</code>
    </Confirm>
  );
}
