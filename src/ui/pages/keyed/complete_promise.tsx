import { useId, useState } from "preact/hooks";
import { api } from "../../data/client.ts";
import { toast } from "../../state/toasts.ts";
import { FormDialog, TextField } from "../../widgets/form_dialog.tsx";
import type { Keyed } from "./statements.ts";

interface Props {
  readonly keyed: Keyed;
  /** The promise. Absent: its name is asked for. */
  readonly name?: string;
  readonly onClose: () => void;
}

type How = "resolve" | "reject";

const DONE: Readonly<Record<How, string>> = { resolve: "resolved", reject: "rejected" };
/** Characters of a name that a message has. */
const NAME_MAX = 40;

/** Asks how a promise of a workflow is to be completed, and does it. */
export default function CompletePromise({ keyed, name: given, onClose }: Props) {
  const [name, rename] = useState(given ?? "");
  const [how, choose] = useState<How>("resolve");
  const [text, write] = useState("");
  const send = async () => {
    const { service, key, scope } = keyed;
    const body = {
      ...{ object_key: key, name },
      ...(how === "resolve" ? { value: text } : { message: text }),
      ...(scope !== undefined && { scope }),
    };
    const path = `internal/services/${encodeURIComponent(service)}/promises/${how}`;
    await api(path, { method: "POST", body });
    toast("done", `Promise ${name.slice(0, NAME_MAX)}: ${DONE[how]}`);
  };
  return (
    <FormDialog
      title="Complete a promise"
      action={how === "resolve" ? "Resolve for good" : "Reject for good"}
      isReady={name !== ""}
      onSend={send}
      onClose={onClose}
    >
      <TextField label="Promise" value={name} onChange={rename} isLocked={given !== undefined} />
      <Choice how={how} onChoose={choose} />
      <Outcome how={how} text={text} onWrite={write} />
      <p>
        <strong>This cannot be undone.</strong>{" "}
        A promise is completed once: everything that waits for it goes on with this, and handlers
        that complete it later are refused.
      </p>
    </FormDialog>
  );
}

const CHOICES = [
  ["resolve", "Resolve it with a value"],
  ["reject", "Reject it with a reason"],
] as const;

function Choice({ how, onChoose }: { readonly how: How; readonly onChoose: (how: How) => void }) {
  return (
    <fieldset class="row">
      <legend class="hidden">How</legend>
      {CHOICES.map(([one, label]) => (
        <label key={one}>
          <input type="radio" name="how" checked={how === one} onChange={() => onChoose(one)} />
          {" "}
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function Outcome({ how, text, onWrite }: {
  readonly how: How;
  readonly text: string;
  readonly onWrite: (text: string) => void;
}) {
  const isValue = how === "resolve";
  const hint = useId();
  return (
    <div>
      <label>
        {isValue ? "Value" : "Reason"}
        <textarea
          rows={3}
          spellcheck={false}
          aria-describedby={hint}
          value={text}
          onInput={({ currentTarget }) => onWrite(currentTarget.value)}
        />
      </label>
      <small id={hint}>
        {isValue ? hintOf(text) : "The message of the error that the handlers get."}
      </small>
    </div>
  );
}

/** What handlers make of a value, unless they have serdes of their own. */
function hintOf(text: string): string {
  if (text === "") return "Handlers read JSON, unless they say otherwise. Nothing is undefined.";
  try {
    JSON.parse(text);
    return "This is JSON.";
  } catch {
    return "This is no JSON: a handler that reads JSON fails with it. Text has quotation marks.";
  }
}
