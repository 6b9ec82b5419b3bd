import { useEffect, useState } from "preact/hooks";
import { change } from "../../data/act.ts";
import { type ApiError, query } from "../../data/client.ts";
import { Check } from "../../widgets/check.tsx";
import { Confirm } from "../../widgets/dialog.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import {
  type Change,
  changesOf,
  entriesOf,
  type Entry,
  HEX_MAX,
  hexText,
  newStateOf,
  problemOf,
  versionOf,
} from "./edited_state.ts";
import { type Keyed, type StateRow, wholeStateOf } from "./statements.ts";

/** Lines of a value that are in view. */
const ROWS_MAX = 8;

/** Edits a state as a whole. It is sent after its differences were shown. */
export function StateEditor({ keyed, onClose }: {
  readonly keyed: Keyed;
  readonly onClose: () => void;
}) {
  const [entries, set] = useState<readonly Entry[]>();
  const [failure, fail] = useState<ApiError>();
  const read = () => {
    fail(undefined);
    query<StateRow>(wholeStateOf(keyed)).then((rows) => set(entriesOf(rows)), fail);
  };
  useEffect(read, []);
  if (failure) {
    return (
      <>
        <Failed error={failure} onRetry={read} />
        <button type="button" onClick={onClose}>Discard</button>
      </>
    );
  }
  if (!entries) return <p class="quiet">Reading all of it…</p>;
  return <EditForm {...{ keyed, entries, onClose }} onChange={set} />;
}

interface EditProps {
  readonly keyed: Keyed;
  readonly entries: readonly Entry[];
  readonly onChange: (entries: readonly Entry[]) => void;
  readonly onClose: () => void;
}

function EditForm({ keyed, entries, onChange, onClose }: EditProps) {
  const [isAsking, ask] = useState(false);
  const changes = changesOf(entries);
  const problem = problemOf(entries);
  const isReady = changes.length > 0 && problem === undefined;
  const review = (event: Event) => {
    event.preventDefault();
    ask(isReady);
  };
  // The question is beside the form: from within it, its answer would submit this form as well.
  return (
    <>
      <form class="fields" aria-label="Edit state" onSubmit={review}>
        <Fields entries={entries} onChange={onChange} />
        {problem !== undefined && <p role="alert" class="text">{problem}</p>}
        <div class="row">
          <button type="submit" class="primary" disabled={!isReady}>
            Review {changes.length === 1 ? "1 change" : `${changes.length} changes`}…
          </button>
          <button type="button" onClick={onClose}>Discard</button>
        </div>
      </form>
      {isAsking && (
        <Review
          {...{ keyed, entries, changes }}
          onClose={() => ask(false)}
          onDone={onClose}
        />
      )}
    </>
  );
}

function Fields({ entries, onChange }: {
  readonly entries: readonly Entry[];
  readonly onChange: (entries: readonly Entry[]) => void;
}) {
  const replace = (at: number, entry: Entry) => onChange(entries.with(at, entry));
  return (
    <>
      {entries.map((entry, at) => (
        <EntryField
          key={at}
          entry={entry}
          onChange={(next) => replace(at, next)}
        />
      ))}
      <div>
        <button
          type="button"
          onClick={() => onChange([...entries, { key: "", text: "", isRemoved: false }])}
        >
          Add an entry
        </button>
      </div>
    </>
  );
}

interface EntryProps {
  readonly entry: Entry;
  readonly onChange: (entry: Entry) => void;
}

function EntryField({ entry, onChange }: EntryProps) {
  const { key, before, isRemoved } = entry;
  return (
    <fieldset class="entry">
      <legend>{before ? <bdi>{key}</bdi> : "New entry"}</legend>
      {!before && (
        <label>
          Name
          <input
            value={key}
            onInput={({ currentTarget }) => onChange({ ...entry, key: currentTarget.value })}
          />
        </label>
      )}
      <ValueField {...{ entry, onChange }} />
      <Check isOn={isRemoved} onSet={(to) => onChange({ ...entry, isRemoved: to })}>
        Remove {before ? <bdi>{key}</bdi> : "the new entry"}
      </Check>
    </fieldset>
  );
}

function ValueField({ entry, onChange }: EntryProps) {
  const { before = new Uint8Array(), text, isRemoved } = entry;
  if (text === undefined) {
    return <code>{hexText(before, HEX_MAX)} (no text: it stays, or is removed)</code>;
  }
  return (
    <label>
      Value
      <textarea
        rows={Math.min(ROWS_MAX, text.split("\n").length + 1)}
        spellcheck={false}
        disabled={isRemoved}
        value={text}
        onInput={({ currentTarget }) => onChange({ ...entry, text: currentTarget.value })}
      />
    </label>
  );
}

/** What will be different, before it is sent. */
function Review({ keyed, entries, changes, onClose, onDone }: {
  readonly keyed: Keyed;
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const send = async () => {
    const { service, key, scope } = keyed;
    const body = {
      object_key: key,
      new_state: newStateOf(entries),
      version: versionOf(entries),
      ...(scope !== undefined && { scope }),
    };
    const path = `services/${encodeURIComponent(service)}/state`;
    const done =
      "Accepted: it changes when no invocation holds the key, unless others change it first";
    if (await change(path, { method: "POST", body }, done)) onDone();
  };
  return (
    <Confirm
      title="Change state"
      action="Change state"
      onClose={onClose}
      onConfirm={() => void send()}
    >
      <ul class="changes">
        {changes.map((one) => <ChangeLine key={one.key} change={one} />)}
      </ul>
      <p class="quiet">
        It is changed only if the state is still the one that you have edited, and when no
        invocation holds the key.
      </p>
    </Confirm>
  );
}

function ChangeLine({ change: { kind, key, before, after } }: { readonly change: Change }) {
  return (
    <li>
      <Icon name={kind === "added" ? "add" : kind === "removed" ? "remove" : "edit"} /> {kind}{" "}
      <strong>
        <bdi>{key}</bdi>
      </strong>
      {kind !== "added" && (
        <del>
          <LongText text={before} />
        </del>
      )}
      {kind !== "removed" && (
        <ins>
          <LongText text={after} />
        </ins>
      )}
    </li>
  );
}
