import type { RefObject, TargetedKeyboardEvent } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** What is chosen in a menu: a link, or something that is done. */
export type MenuItem =
  | { readonly label: string; readonly to: string }
  | { readonly label: string; readonly run: () => void; readonly isDangerous?: boolean };

interface MenuProps {
  /** The name of its button, which shows three dots only. */
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Whether Tab leads to its button. Default: yes. */
  readonly isReached?: boolean;
}

/**
 * A button for what does not fit beside it. Enter, space and the arrow keys open it at its first or
 * last item; arrows, Home, End and first letters move, Escape and Tab close. Nothing, without items.
 */
export function Menu({ label, items, isReached = true }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  if (items.length === 0) return null;
  return (
    <>
      <button
        type="button"
        class="icon"
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={label}
        title={label}
        tabIndex={isReached ? 0 : -1}
        onKeyDown={(event) => openBy(event, menu.current)}
      >
        <Icon name="more" />
      </button>
      <div
        {...{ id, ref: menu, popover: "auto", role: "menu", class: "popover menu" }}
        aria-label={label}
        onToggle={({ newState }) => setOpen(newState === "open")}
        onKeyDown={(event) => moveBy(event, menu.current)}
      >
        {items.map((item, at) => (
          <Item key={item.label} item={item} isFirst={at === 0} menu={menu} />
        ))}
      </div>
    </>
  );
}

function Item({ item, isFirst, menu }: {
  readonly item: MenuItem;
  readonly isFirst: boolean;
  readonly menu: RefObject<HTMLElement | null>;
}) {
  // The browser gives it the focus when the menu opens, and gives it back when it closes.
  const shared = { role: "menuitem", tabIndex: -1, autofocus: isFirst } as const;
  const { label } = item;
  if ("to" in item) {
    return (
      <a {...shared} href={item.to} onClick={() => menu.current?.hidePopover()}>
        <bdi>{label}</bdi>
      </a>
    );
  }
  const run = () => {
    menu.current?.hidePopover();
    item.run();
  };
  return (
    <button {...shared} type="button" class={item.isDangerous ? "danger" : ""} onClick={run}>
      <bdi>{label}</bdi>
    </button>
  );
}

const itemsOf = (
  menu: HTMLElement | null,
) => [...menu?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? []];

/** The arrow keys on its button. The click says to the browser beside what the menu is to be shown. */
function openBy(
  event: TargetedKeyboardEvent<HTMLButtonElement>,
  menu: HTMLElement | null,
): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  event.stopPropagation();
  if (!menu?.matches(":popover-open")) event.currentTarget.click();
  itemsOf(menu).at(event.key === "ArrowDown" ? 0 : -1)?.focus();
}

/** Keys of an open menu. Those of the page do not hold in it, nor those of a table around it. */
function moveBy(event: TargetedKeyboardEvent<HTMLElement>, menu: HTMLElement | null): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  if (event.key === "Tab") return menu?.hidePopover();
  const items = itemsOf(menu);
  const at = items.findIndex((item) => item === document.activeElement);
  const target = document.activeElement;
  if (event.key === " " && target instanceof HTMLAnchorElement) target.click();
  else {
    const next = nextOf(event.key, items, at);
    if (!next) return;
    next.focus();
  }
  event.preventDefault();
}

/** The item that a key leads to. Undefined: the key does not move. */
function nextOf(key: string, items: readonly HTMLElement[], at: number): HTMLElement | undefined {
  switch (key) {
    case "ArrowDown":
      return items[(at + 1) % items.length];
    case "ArrowUp":
      return items.at(at - 1);
    case "Home":
      return items[0];
    case "End":
      return items.at(-1);
    default: {
      if (key.length !== 1 || key === " ") return undefined;
      const behind = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      const begins = (item: HTMLElement) =>
        item.textContent?.toLowerCase().startsWith(key.toLowerCase());
      return behind.find(begins);
    }
  }
}
