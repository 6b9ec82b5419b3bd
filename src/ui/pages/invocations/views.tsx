import { keptList } from "../../state/kept.ts";
import { linkWith, place } from "../../state/router.ts";
import { Check } from "../../widgets/check.tsx";
import { keptViews, NamedViews } from "../../widgets/named_views.tsx";
import { Popover } from "../../widgets/popover.tsx";
import { COLUMN_TITLES } from "./columns.tsx";

const isText = (one: unknown): one is string => typeof one === "string";

/** Filters and orders. */
const views = keptViews("perdure.views");
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
  return (
    <NamedViews
      views={views}
      queryOfNow={queryOfPlace}
      show={({ name, query }) => (
        <a href={linkWith("invocations", new URLSearchParams(query))}>
          <bdi>{name}</bdi>
        </a>
      )}
    >
      They are kept by this browser: the filter and the order.
    </NamedViews>
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
