import { useState } from "preact/hooks";
import { toast } from "../state/toasts.ts";
import { Icon } from "./icon.tsx";

/** Characters of a long id that are shown at its beginning and end. */
const [HEAD, TAIL] = [10, 5];
const COPIED_MS = 1_200;

/** A button that copies a text. `label`: what it is, for those who do not see it. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    }, () => toast("failed", "The browser does not allow to copy"));
  };
  return (
    <button
      type="button"
      class="icon copy"
      aria-label={`Copy ${label}`}
      title="Copy"
      onClick={copy}
    >
      <Icon name={isCopied ? "succeeded" : "copy"} />
    </button>
  );
}

/** An id: short to read, whole in its title, a link if it has a page, with a button to copy it. */
export function Id({ id, to, isWhole = false, isBare = false }: {
  readonly id: string;
  /** Where it leads, such as `link("invocations", id)`. */
  readonly to?: string;
  readonly isWhole?: boolean;
  /** Without the button: in long lists, where its page has one. */
  readonly isBare?: boolean;
}) {
  const isShort = isWhole || id.length <= HEAD + TAIL + 2;
  const text = isShort ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;
  return (
    <span class="id">
      {to === undefined ? <code title={id}>{text}</code> : <a href={to} title={id}>{text}</a>}
      {!isBare && <Copy text={id} label={id} />}
    </span>
  );
}
