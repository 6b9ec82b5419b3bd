import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { settings } from "./settings.ts";

export interface Key {
  /** What it does, for the sheet. */
  readonly label: string;
  readonly run: () => void;
}

/**
 * Keys by their names: `j`, `Enter`, `shift+x`, `ctrl+k` (also the command key), or two in a row:
 * `g i`.
 */
export type Keys = Readonly<Record<string, Key>>;

interface KeySet {
  readonly title: string;
  readonly keys: Keys;
  /** The part of the page that they are for, if there may be several with the same keys. */
  readonly part?: RefObject<HTMLElement | null> | undefined;
}

/** All sets of keys of what is shown, the newest last: it wins. */
export const keySets = signal<readonly KeySet[]>([]);

/** How long the first key of two waits for the second. */
const SEQUENCE_MS = 1_500;
let first: { readonly name: string; readonly at: number } | undefined;

/**
 * Keys that hold while the component is shown. `title`: of their section of the sheet. `part`: of
 * several parts with the same keys, such as tables, the one with the focus has them, else the first.
 */
export function useKeys(title: string, keys: Keys, part?: RefObject<HTMLElement | null>): void {
  const current = useRef(keys);
  current.current = keys;
  const names = Object.keys(keys).join(" ");
  // Before the browser paints: what is seen can be pressed.
  useLayoutEffect(() => {
    // As they were drawn last: one that is gone does not hide another one of its name.
    const set = {
      ...{ title, part },
      get keys() {
        return current.current;
      },
    };
    keySets.value = [...keySets.peek(), set];
    return () => void (keySets.value = keySets.peek().filter((one) => one !== set));
  }, [title, names]);
}

/** Listens to the keyboard. Called once. */
export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = nameOf(event);
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (!hasModifier && (settings.value.keys === "off" || isTyping(event.target))) return;
    // A dialog has the keyboard to itself.
    if (!hasModifier && document.querySelector("dialog[open]")) return;
    if (isPressing(name, event.target)) return;
    const key = keyOf(name);
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}

/** The key of a name, or of it behind the one before. */
function keyOf(name: string): Key | undefined {
  const isRecent = first && Date.now() - first.at < SEQUENCE_MS;
  const pair = isRecent ? find(`${first?.name} ${name}`) : undefined;
  first = pair ? undefined : { name, at: Date.now() };
  return pair ?? find(name);
}

function find(name: string): Key | undefined {
  const sets = keySets.peek();
  const parts = sets.filter(({ part }) => part?.current);
  const own = parts.find(({ part }) => part?.current?.contains(document.activeElement)) ??
    parts.toSorted(byPlace)[0];
  return sets.findLast((set) => (!set.part || set === own) && name in set.keys)?.keys[name];
}

/** In the order of the document. */
function byPlace({ part: a }: KeySet, { part: b }: KeySet): number {
  if (!a?.current || !b?.current) return 0;
  const isBehind = a.current.compareDocumentPosition(b.current) & Node.DOCUMENT_POSITION_FOLLOWING;
  return isBehind ? -1 : 1;
}

function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  const isLetter = /^[a-z]$/i.test(key);
  const parts = [
    ...(ctrlKey || metaKey ? ["ctrl"] : []),
    ...(altKey ? ["alt"] : []),
    // Of a sign such as `?` it is part of the key.
    ...(shiftKey && (isLetter || key.length > 1) ? ["shift"] : []),
    isLetter ? key.toLowerCase() : key === " " ? "space" : key,
  ];
  return parts.join("+");
}

/** What Enter and space press when they are on it. */
const CONTROLS = "button, a[href], summary, input, select";

/** Whether a key belongs to the control that has the focus. All other keys of a page hold there, too. */
function isPressing(name: string, target: EventTarget | null): boolean {
  const isPress = name === "Enter" || name === "space";
  return isPress && target instanceof Element && target.closest(CONTROLS) !== null;
}

/** Whether keys are text at this place. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches(
    "input:not([type=checkbox], [type=radio], [type=range], [type=file]), textarea, select",
  );
}
