import type { RefObject } from "preact";
import { useId, useState } from "preact/hooks";
import { complete, type Completion, type Tables } from "./completion.ts";
import { tokensOf } from "./tokens.ts";

interface EditorProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly tables: Tables;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

interface Offered extends Completion {
  /** Which one is marked. */
  readonly at: number;
}

/** Completions at the cursor. */
function useOffers({ tables, onChange, field }: EditorProps) {
  const [offered, offer] = useState<Offered>();
  const propose = ({ value, selectionStart }: HTMLTextAreaElement) => {
    const found = complete(value, selectionStart, tables);
    offer(found.suggestions.length > 0 ? { ...found, at: 0 } : undefined);
  };
  const take = (at: number) => {
    const chosen = offered?.suggestions[at];
    if (!offered || !chosen || !field.current) return;
    onChange(insertAt(field.current, chosen.text, offered.from));
    offer(undefined);
  };
  return { offered, offer, propose, take };
}

/** A statement to edit, with colors behind it and completions below it. */
export function Editor(props: EditorProps) {
  const { text, onChange, onRun, field } = props;
  const list = useId();
  const { offered, offer, propose, take } = useOffers(props);
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") onRun();
    else if (!offered || !navigate(event, offered, { offer, take })) return;
    event.preventDefault();
  };
  return (
    <div class="sql-editor">
      <div class="sql-layers">
        <Colors text={text} />
        <textarea
          ref={field}
          class="code"
          aria-label="Statement"
          aria-autocomplete="list"
          aria-controls={offered ? list : undefined}
          aria-activedescendant={offered ? `${list}-${offered.at}` : undefined}
          spellcheck={false}
          autocapitalize="off"
          value={text}
          onInput={({ currentTarget }) => {
            onChange(currentTarget.value);
            propose(currentTarget);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => offer(undefined)}
        />
      </div>
      {offered && <Offers {...{ list, offered, take }} />}
    </div>
  );
}

interface Choosing {
  readonly offer: (offered: Offered | undefined) => void;
  readonly take: (at: number) => void;
}

/** Arrows, Tab and Escape while completions are shown. Answers whether the key was one of them. */
function navigate({ key }: KeyboardEvent, offered: Offered, { offer, take }: Choosing): boolean {
  const count = offered.suggestions.length;
  if (key === "ArrowDown") offer({ ...offered, at: (offered.at + 1) % count });
  else if (key === "ArrowUp") offer({ ...offered, at: (offered.at + count - 1) % count });
  else if (key === "Tab") take(offered.at);
  else if (key === "Escape") offer(undefined);
  else return false;
  return true;
}

/** Replaces what is behind `from` up to the cursor. Answers the whole text. */
export function insertAt(field: HTMLTextAreaElement, text: string, from?: number): string {
  field.setRangeText(text, from ?? field.selectionStart, field.selectionEnd, "end");
  field.focus();
  return field.value;
}

/** The text once more in colors. The text field above it has the cursor, and invisible letters. */
function Colors({ text }: { readonly text: string }) {
  return (
    <pre aria-hidden="true">
      {tokensOf(text).map(({ kind, text: part }, at) => (
        <span key={at} class={kind}>{part}</span>
      ))}{"\n"}
    </pre>
  );
}

function Offers({ list, offered, take }: {
  readonly list: string;
  readonly offered: Offered;
  readonly take: (at: number) => void;
}) {
  return (
    <ul id={list} role="listbox" aria-label="Completions" class="choices offers">
      {offered.suggestions.map(({ text, about }, at) => (
        <li
          key={text}
          id={`${list}-${at}`}
          role="option"
          aria-selected={at === offered.at}
          // Before the text field loses the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            take(at);
          }}
        >
          <code>{text}</code> <small>{about}</small>
        </li>
      ))}
    </ul>
  );
}
