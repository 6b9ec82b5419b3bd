import { signal } from "@preact/signals";

/** A list that this browser keeps. */
export interface Kept<T> {
  readonly list: { readonly value: readonly T[] };
  /** Keeps another list in its place. */
  readonly set: (list: readonly T[]) => void;
}

/** A list that this browser keeps under a name. `isOne`: whether something stored belongs there. */
export function keptList<T>(name: string, isOne: (one: unknown) => one is T): Kept<T> {
  const list = signal<readonly T[]>(stored(name, isOne));
  const set = (next: readonly T[]) => {
    list.value = next;
    try {
      localStorage.setItem(name, JSON.stringify(next));
    } catch {
      // Forbidden or full: it holds for this page.
    }
  };
  return { list, set };
}

function stored<T>(name: string, isOne: (one: unknown) => one is T): readonly T[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(list) ? list.filter(isOne) : [];
  } catch {
    // Forbidden, or something else is stored there.
    return [];
  }
}
