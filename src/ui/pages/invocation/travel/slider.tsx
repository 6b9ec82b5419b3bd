import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../../state/keys.ts";
import { Icon } from "../../../widgets/icon.tsx";

/** The address follows after so many ms: browsers refuse more than some hundred changes in a row. */
const ADDRESS_MS = 150;

interface SliderProps {
  readonly at: number;
  readonly last: number;
  /** What an entry is, in words: heard by those who do not see the page. */
  readonly textOf: (position: number) => string;
  readonly onMove: (position: number) => void;
}

/** Where the slider is. It is ahead of the address while it moves. */
function usePosition({ at, last, onMove }: SliderProps) {
  const [moving, setMoving] = useState<number>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = (wanted: number) => {
    const to = Math.max(0, Math.min(wanted, last));
    setMoving(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      onMove(to);
      setMoving(undefined);
    }, ADDRESS_MS);
  };
  return { shown: Math.min(moving ?? at, last), move };
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
