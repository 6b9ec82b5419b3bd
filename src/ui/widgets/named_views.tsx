import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Kept, keptList } from "../state/kept.ts";
import { Popover } from "./popover.tsx";

/** What a page shows, under a name. `query`: a part of the address, or a statement. */
export interface View {
  readonly name: string;
  readonly query: string;
}

const isView = (one: unknown): one is View =>
  typeof (one as View | null)?.name === "string" && typeof (one as View).query === "string";

/** Views that are kept. Beyond, the oldest is forgotten. */
const VIEWS_MAX = 50;

/** Views that this browser keeps under a name of their own. */
export function keptViews(name: string): Kept<View> {
  return keptList(name, isView);
}

/** Views by their names, and a form to keep the one of now. */
export function NamedViews({ views, queryOfNow, show, children }: {
  readonly views: Kept<View>;
  /** What is kept. */
  readonly queryOfNow: () => string;
  /** A link or a button that shows a view. */
  readonly show: (view: View) => ComponentChildren;
  /** What is kept, in a sentence. */
  readonly children: ComponentChildren;
}) {
  const forget = (view: View) => views.set(views.list.value.filter((one) => one !== view));
  return (
    <Popover label="Views">
      <ul class="plain">
        {views.list.value.map((view) => (
          <li key={view.name} class="row">
            {show(view)}
            <button type="button" aria-label={`Forget ${view.name}`} onClick={() => forget(view)}>
              Forget
            </button>
          </li>
        ))}
      </ul>
      <KeepForm views={views} queryOfNow={queryOfNow} />
      <small>{children}</small>
    </Popover>
  );
}

function KeepForm({ views, queryOfNow }: {
  readonly views: Kept<View>;
  readonly queryOfNow: () => string;
}) {
  const [name, type] = useState("");
  const keep = (event: Event) => {
    event.preventDefault();
    const kept = { name: name.trim(), query: queryOfNow() };
    const others = views.list.value.filter((one) => one.name !== kept.name);
    views.set([...others, kept].slice(-VIEWS_MAX));
    type("");
  };
  return (
    <form class="row" onSubmit={keep}>
      <label>
        Name of this view{" "}
        <input
          required
          pattern=".*\S.*"
          value={name}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
      </label>
      <button type="submit">Keep</button>
    </form>
  );
}
