import { signal } from "@preact/signals";
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

/** Sets of keys that hold now, the newest last: it wins. */
export const keySets = signal<readonly { readonly title: string; readonly keys: Keys }[]>([]);

/** How long the first key of two waits for the second. */
const SEQUENCE_MS = 1_500;
let first: { readonly name: string; readonly at: number } | undefined;

/** Keys that hold while the component is shown. `title`: of their part of the sheet. */
export function useKeys(title: string, keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  const names = Object.keys(keys).join(" ");
  // Before the browser paints: what is seen can be pressed.
  useLayoutEffect(() => {
    // As they were drawn last: one that is gone does not hide another one of its name.
    const set = {
      title,
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
  return keySets.peek().findLast(({ keys }) => name in keys)?.keys[name];
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
  return target.isContentEditable ||
    target.matches("input:not([type=checkbox], [type=range]), textarea, select");
}
