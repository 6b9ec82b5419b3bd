import type { RefObject } from "preact";
import { useState } from "preact/hooks";

/** Whether the pointer is on an element, or a menu of it is in use, and the events that tell. */
export function useNear(element: RefObject<HTMLElement | null>) {
  const [isNear, setNear] = useState(false);
  const on = {
    onPointerEnter: () => setNear(true),
    // A menu stays while it is open, wherever the pointer goes.
    onPointerLeave: () => setNear(element.current?.matches(":has(:popover-open)") ?? false),
    onFocusOut: ({ relatedTarget: next }: FocusEvent) => {
      const isInside = next instanceof Node && element.current?.contains(next);
      if (!isInside && !element.current?.matches(":hover")) setNear(false);
    },
  };
  return [isNear, on] as const;
}
