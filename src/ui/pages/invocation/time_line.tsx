import type { ComponentChildren } from "preact";
import { place, setQuery } from "../../state/router.ts";
import type { Timeline } from "./timeline.ts";

/** Units of the picture of a line. It is stretched to the width of its cell. */
export const WIDTH = 1_000;
const HEIGHT = 20;
/** What took no time can still be seen. */
export const BAR_MIN = 4;

/** The picture of a row on the line, with the waits that are folded behind its bars. */
export function LinePicture(
  { line, children }: { readonly line: Timeline; readonly children: ComponentChildren },
) {
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {line.folds.map((fold) => (
        <rect
          key={fold.at}
          class="fold"
          x={WIDTH * fold.at}
          width={WIDTH * (fold.until - fold.at)}
          height={HEIGHT}
        />
      ))}
      {children}
    </svg>
  );
}

/** Whether long waits are folded: unless the address says otherwise. */
export const isFoldingOf = () => place.value.query.get("fold") !== "no";

/** The choice whether long waits are folded, which the address keeps. */
export function FoldChoice() {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isFoldingOf()}
        onChange={({ currentTarget }) =>
          setQuery({ fold: currentTarget.checked ? undefined : "no" })}
      />
      Fold long waits
    </label>
  );
}
