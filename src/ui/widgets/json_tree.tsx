import { useState } from "preact/hooks";
import { parseJson } from "../data/json.ts";
import { Copy } from "./id.tsx";
import { Pointer, pointerTo, rowOf, usePointed } from "./json_pointer.tsx";

/** Members that are shown at once; more on demand, so that a large value does not stop the page. */
const MEMBERS_MAX = 100;
/** Characters of a text that are shown at once. */
const TEXT_MAX = 2_000;

/**
 * A value that came as text: a tree if it is JSON, else the text as it is. The path of the member that a
 * click or the arrow keys have chosen can be copied.
 */
export function Json({ text, label }: { readonly text: string; readonly label: string }) {
  const parsed = parsedOf(text);
  const [pointer, on] = usePointed();
  return (
    <div class="json" role="group" aria-label={label} {...on}>
      <Copy text={text} label={label} />
      {pointer !== "" && <Pointer pointer={pointer} />}
      {parsed === undefined
        ? <LongText text={text} />
        : <Node value={parsed.value} pointer="" isOpen />}
    </div>
  );
}

function parsedOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

interface NodeProps {
  readonly value: unknown;
  /** Where it is in the whole, such as `/items/0`. */
  readonly pointer: string;
  readonly name?: string;
  readonly isOpen?: boolean;
}

function Node({ value, pointer, name, isOpen: isOpenFirst = false }: NodeProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const label = name === undefined ? undefined : <bdi class="name">{name}:</bdi>;
  if (value === null || typeof value !== "object") {
    return (
      <div class="leaf" {...rowOf(pointer)}>
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const members = Object.entries(value);
  return (
    <details
      open={isOpenFirst}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary {...rowOf(pointer)}>
        {label}
        {Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`}
      </summary>
      {isOpen && <Members members={members} pointer={pointer} />}
    </details>
  );
}

function Members({ members, pointer }: {
  readonly members: readonly (readonly [string, unknown])[];
  readonly pointer: string;
}) {
  const [shown, show] = useState(MEMBERS_MAX);
  return (
    <div class="members">
      {members.slice(0, shown).map(([name, value]) => (
        <Node key={name} name={name} value={value} pointer={pointerTo(pointer, name)} />
      ))}
      {members.length > shown && (
        <button
          type="button"
          class="link"
          onClick={() => show(shown + MEMBERS_MAX)}
        >
          {members.length - shown} more
        </button>
      )}
    </div>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value === "string") {
    return (
      <span class="string">
        "<LongText text={value} />"
      </span>
    );
  }
  return <span class={value === null ? "null" : typeof value}>{String(value)}</span>;
}

/** A text, cut if it is very long. Marks of direction cannot change what is around it. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= TEXT_MAX) return <bdi class="text">{text}</bdi>;
  return (
    <>
      <bdi class="text">{text.slice(0, TEXT_MAX)}</bdi>
      <button type="button" class="link" onClick={() => setWhole(true)}>
        … {text.length - TEXT_MAX} characters more
      </button>
    </>
  );
}
