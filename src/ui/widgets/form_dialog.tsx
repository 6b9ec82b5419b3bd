import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { messageOf } from "../data/commands.ts";
import { refreshAll } from "../data/resource.ts";
import { Dialog } from "./dialog.tsx";

/** A dialog with fields. What the server refuses is said in it, so that it can be put right. */
export function FormDialog({ title, action, isReady = true, onSend, onClose, children }: {
  readonly title: string;
  /** The word on the button. */
  readonly action: string;
  readonly isReady?: boolean;
  readonly onSend: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const [failure, fail] = useState<string>();
  const [isSending, mark] = useState(false);
  const send = (event: Event) => {
    event.preventDefault();
    if (!isReady || isSending) return;
    mark(true);
    onSend().then(() => {
      refreshAll();
      onClose();
    }, (cause) => {
      mark(false);
      fail(messageOf(cause));
    });
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form class="fields" onSubmit={send}>
        {children}
        {failure !== undefined && (
          <p class="failed-box text" role="alert">
            <bdi>{failure}</bdi>
          </p>
        )}
        <div class="row">
          <button type="submit" class="primary" disabled={!isReady || isSending}>{action}</button>
          <button type="button" onClick={onClose}>Discard</button>
        </div>
      </form>
    </Dialog>
  );
}

/** A text field with its label and what is expected in it. */
export function TextField({ label, value, onChange, hint, isLocked = false }: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  /** Shown, and not changed. */
  readonly isLocked?: boolean;
}) {
  const id = useId();
  return (
    <div>
      <label>
        {label}
        <input
          value={value}
          readOnly={isLocked}
          spellcheck={false}
          autocomplete="off"
          aria-describedby={hint === undefined ? undefined : id}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      {hint !== undefined && <small id={id}>{hint}</small>}
    </div>
  );
}
