import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { place } from "../state/router.ts";
import { toast } from "../state/toasts.ts";
import { Icon } from "./icon.tsx";

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** Called by Escape, by a click beside it and by its button. */
  readonly onClose: () => void;
  /** Whether the title is for those only who do not see it. */
  readonly isPlain?: boolean;
  readonly children: ComponentChildren;
}

/** A native modal dialog: the browser keeps the focus in it and gives it back. */
export function Dialog({ title, isOpen, onClose, isPlain = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** Its event comes later, when it may be open again. */
  const isClosedByUs = useRef(false);
  const id = useId();
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (isOpen || !dialog.current?.open) return;
    isClosedByUs.current = true;
    dialog.current.close();
  }, [isOpen]);
  const closed = () => {
    if (!isClosedByUs.current) onClose();
    isClosedByUs.current = false;
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={closed}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget || closestLink(target)) onClose();
      }}
    >
      <div class="dialog">
        <header class={isPlain ? "hidden" : undefined}>
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** A link within leads to another page. */
function closestLink(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a[href]") !== null;
}

type Opened<Props> = ComponentType<Props & { readonly onClose: () => void }>;

/** The dialog that a `DialogButton` has opened. Undefined: none is open. */
const openedDialog = signal<VNode | undefined>(undefined);
const closeDialog = () => void (openedDialog.value = undefined);

/**
 * Shows the dialog that a `DialogButton` has opened, and closes it when the path changes. The frame renders
 * it, because a page removes a button when its subject changes, and would remove the typed text with it.
 */
export function OpenedDialog() {
  const { path } = place.value;
  useEffect(() => closeDialog, [path]);
  return <>{openedDialog.value}</>;
}

/** A button that opens a dialog. `load`: imports its module, which is a chunk of its own. */
export function DialogButton<Props extends object>({ load, of, children }: {
  readonly load: () => Promise<{ readonly default: Opened<Props> }>;
  /** What the dialog is about. */
  readonly of: Props;
  readonly children: ComponentChildren;
}) {
  const show = async () => {
    const { path } = place.value;
    const module = await load().catch(() => undefined);
    // The server was replaced by another version, whose files have other names.
    if (!module) toast("failed", "This part could not be loaded. Load the page again.");
    else if (path === place.value.path) {
      openedDialog.value = <module.default {...of} onClose={closeDialog} />;
    }
  };
  return <button type="button" onClick={() => void show()}>{children}</button>;
}

export interface ConfirmProps {
  readonly title: string;
  /** What exactly will happen, and to what. */
  readonly children: ComponentChildren;
  /** The word on the button: what is done. */
  readonly action: string;
  /** Whether it is known yet what it will happen to. Default: yes. */
  readonly isKnown?: boolean;
  /** Has to be typed first. For what cannot be undone and hits many. */
  readonly typed?: string | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something is done. */
export function Confirm(
  { title, children, action, isKnown = true, typed, onConfirm, onClose }: ConfirmProps,
) {
  const [text, type] = useState("");
  const isReady = isKnown && (typed === undefined || text === typed);
  const confirm = (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    onClose();
    onConfirm();
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form class="fields" onSubmit={confirm}>
        <div>{children}</div>
        {typed !== undefined && (
          <label>
            Type “{typed}” to confirm
            <input value={text} onInput={({ currentTarget }) => type(currentTarget.value)} />
          </label>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>Keep as it is</button>
          <button type="submit" class="danger" disabled={!isReady}>{action}</button>
        </div>
      </form>
    </Dialog>
  );
}
