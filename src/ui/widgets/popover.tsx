import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useId } from "preact/hooks";

/** A link, or a button that looks like one, leads away from it. */
function closeBehind({ target, currentTarget }: TargetedMouseEvent<HTMLElement>): void {
  const isWay = target instanceof Element && target.closest("a[href], button.link");
  if (isWay) currentTarget.hidePopover();
}

/** A button that shows something above the page: a click beside it and Escape close it. */
export function Popover({ label, children }: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <>
      <button type="button" popovertarget={id}>{label}</button>
      <div
        {...{ id, popover: "auto", role: "group", class: "popover" }}
        aria-label={label}
        onClick={closeBehind}
      >
        {children}
      </div>
    </>
  );
}
