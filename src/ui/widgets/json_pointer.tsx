import { useState } from "preact/hooks";
import { Copy } from "./id.tsx";

/** Where a row of a tree says which member it is. */
const POINTER = "data-pointer";
/** Characters of a path that are shown. */
const SHOWN_MAX = 120;

/** The path to a member as a JSON pointer (RFC 6901), such as `/items/3/name`. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * The attributes of a row that a click and the arrow keys choose. Tab goes to the first one only, and from
 * there on, so that a large value is one step.
 */
export function rowOf(pointer: string) {
  return { [POINTER]: pointer, tabIndex: pointer === "" ? undefined : -1 };
}

/** The path that was chosen last, empty before, and the events of a tree by which one is chosen. */
export function usePointed() {
  const [pointer, point] = useState("");
  const choose = (row: HTMLElement | null | undefined) => {
    const chosen = row?.getAttribute(POINTER);
    if (chosen != null) point(chosen);
  };
  const on = {
    onClick: ({ target }: Event) => choose(rowAt(target)),
    onKeyDown: (event: KeyEvent) => choose(moved(event)),
  };
  return [pointer, on] as const;
}

type KeyEvent = KeyboardEvent & { readonly currentTarget: HTMLElement };

const rowAt = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>(`[${POINTER}]`) : null;

/** The arrow keys go from row to row of a tree, as far as it is unfolded. Answers the row they go to. */
function moved(event: KeyEvent): HTMLElement | undefined {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = rowAt(event.target);
  if (by === undefined || !row) return undefined;
  event.preventDefault();
  event.stopPropagation();
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(`[${POINTER}]`)];
  const next = rows[rows.indexOf(row) + by];
  next?.focus();
  return next;
}

/** The path that was chosen, to copy. */
export function Pointer({ pointer }: { readonly pointer: string }) {
  const isLong = pointer.length > SHOWN_MAX;
  return (
    <span class="pointer">
      <code>
        <bdi>{isLong ? `…${pointer.slice(-SHOWN_MAX)}` : pointer}</bdi>
      </code>
      <Copy text={pointer} label="the path of this value" />
    </span>
  );
}
