import { useKeys } from "../../../state/keys.ts";
import { useParameter } from "../../../state/parameter.ts";
import { Icon } from "../../../widgets/icon.tsx";

interface SliderProps {
  readonly last: number;
  /** Which entry the parameter of the address means. */
  readonly positionOf: (entry: string) => number;
  /** What an entry is, in words: heard by those who do not see the page. */
  readonly textOf: (position: number) => string;
}

/** Where the slider is: ahead of the address, and of what is read for it, while it moves. */
function usePosition({ last, positionOf }: SliderProps) {
  const [entry, setEntry] = useParameter("entry");
  const move = (wanted: number) => setEntry(String(Math.max(0, Math.min(wanted, last))));
  return { shown: positionOf(entry), move };
}

/** A slider over the entries of a journal, with buttons to the one before and behind. */
export function Slider(props: SliderProps) {
  const { last, textOf } = props;
  const { shown, move } = usePosition(props);
  useKeys("Time travel", {
    "[": { label: "Entry before", run: () => move(shown - 1) },
    "]": { label: "Next entry", run: () => move(shown + 1) },
  });
  return (
    <div class="travel-slider">
      <Step label="Entry before" icon="left" isOff={shown === 0} onStep={() => move(shown - 1)} />
      <input
        type="range"
        min={0}
        max={last}
        value={shown}
        aria-label="Entry of the journal"
        aria-valuetext={`${shown} of ${last}: ${textOf(shown)}`}
        onInput={({ currentTarget }) => move(Number(currentTarget.value))}
      />
      <Step label="Next entry" icon="right" isOff={shown === last} onStep={() => move(shown + 1)} />
      <output class="quiet">
        {shown} of {last}
      </output>
    </div>
  );
}

function Step({ label, icon, isOff, onStep }: {
  readonly label: string;
  readonly icon: "left" | "right";
  readonly isOff: boolean;
  readonly onStep: () => void;
}) {
  return (
    <button type="button" class="icon" aria-label={label} disabled={isOff} onClick={onStep}>
      <Icon name={icon} />
    </button>
  );
}
