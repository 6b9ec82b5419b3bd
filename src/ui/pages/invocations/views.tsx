import { useState } from "preact/hooks";
import { keptList } from "../../state/kept.ts";
import { linkWith, place } from "../../state/router.ts";
import { Check } from "../../widgets/check.tsx";
import { Popover } from "../../widgets/popover.tsx";
import { COLUMN_TITLES } from "./columns.tsx";

/** A filter and an order under a name. */
interface View {
  readonly name: string;
  readonly query: string;
}

const isView = (one: unknown): one is View =>
  typeof (one as View | null)?.name === "string" && typeof (one as View).query === "string";
const isText = (one: unknown): one is string => typeof one === "string";

/** Views that are kept. Beyond, the oldest is forgotten. */
const VIEWS_MAX = 50;

const views = keptList("perdure.views", isView);
const hidden = keptList("perdure.hidden-columns", isText);

/** Ids of the columns that are not shown. */
export function hiddenColumns(): readonly string[] {
  return hidden.list.value;
}

/** The filter and the order of the address. */
function queryOfPlace(): string {
  const query = new URLSearchParams(place.value.query);
  query.delete("peek");
  return query.toString();
}

/** Filters that were kept under a name, and a form to keep the one of now. */
export function Views() {
  const forget = (view: View) => views.set(views.list.value.filter((one) => one !== view));
  return (
    <Popover label="Views">
      <ul class="plain">
        {views.list.value.map((view) => (
          <li key={view.name} class="row">
            <a href={linkWith("invocations", new URLSearchParams(view.query))}>
              <bdi>{view.name}</bdi>
            </a>
            <button type="button" aria-label={`Forget ${view.name}`} onClick={() => forget(view)}>
              Forget
            </button>
          </li>
        ))}
      </ul>
      <KeepForm />
      <small>They are kept by this browser: the filter and the order.</small>
    </Popover>
  );
}

function KeepForm() {
  const [name, type] = useState("");
  const keep = (event: Event) => {
    event.preventDefault();
    const kept = { name: name.trim(), query: queryOfPlace() };
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

/** Which columns are shown. */
export function Columns() {
  const set = (id: string, isShown: boolean) => {
    const others = hidden.list.value.filter((one) => one !== id);
    hidden.set(isShown ? others : [...others, id]);
  };
  return (
    <Popover label="Columns">
      {COLUMN_TITLES.map(([id, title]) => (
        <div key={id}>
          <Check isOn={!hiddenColumns().includes(id)} onSet={(isShown) => set(id, isShown)}>
            {title}
          </Check>
        </div>
      ))}
    </Popover>
  );
}
