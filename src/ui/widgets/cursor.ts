import { useState } from "preact/hooks";

/** Which row of a table the keyboard is at. */
export interface Cursor {
  readonly at: number;
  /** Where a range begins. */
  readonly anchor: number;
  /** Whether the keyboard has moved it: before, it does not take the focus. */
  readonly hasMoved: boolean;
  move(by: number): void;
  set(at: number): void;
  /** Ranges begin here from now on. */
  mark(): void;
}

/** The cursor of a table with `count` rows. */
export function useCursor(count: number): Cursor {
  const [{ at, anchor, hasMoved }, change] = useState({ at: 0, anchor: 0, hasMoved: false });
  const within = (wanted: number) => Math.max(0, Math.min(wanted, count - 1));
  return {
    at: within(at),
    anchor: within(anchor),
    hasMoved,
    move: (by) =>
      change((was) => {
        // The first key goes to the first row.
        const isFirst = !was.hasMoved && was.at === 0 && by > 0;
        return { ...was, at: within(isFirst ? 0 : was.at + by), hasMoved: true };
      }),
    set: (to) => change((was) => was.at === to ? was : { ...was, at: within(to) }),
    mark: () => change((was) => ({ ...was, anchor: was.at })),
  };
}
