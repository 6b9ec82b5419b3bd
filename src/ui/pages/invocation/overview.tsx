import { useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../../state/keys.ts";
import { durationText } from "../../widgets/duration.ts";
import { Icon, type IconName } from "../../widgets/icon.tsx";
import type { Step } from "./steps.ts";
import { type Timeline, type View, viewOf, WHOLE } from "./timeline.ts";
import type { Waterfall } from "./waterfall.tsx";

/** Units of the picture, which is stretched. */
const [WIDTH, LANES, HEIGHT] = [1_000, 8, 34];
/** Parts of the line whose steps are counted. */
const PARTS = 200;
/** What is drawn by the pointer and narrower is a click, as a share of the width. */
const DRAWN_MIN = 0.01;
const ZOOM = 2;

interface OverviewProps {
  readonly steps: readonly Step[];
  readonly waterfall: Waterfall;
}

/**
 * All of the line in one strip: attempts, and how much went on when. What is drawn over with the pointer
 * is shown on the whole width, as the keys and buttons do it.
 */
export function Overview({ steps, waterfall }: OverviewProps) {
  const { whole, lanes, view } = waterfall;
  const activity = useMemo(() => pathOf(activityOf(steps, whole)), [steps, whole]);
  const { drawn, ...pointer } = useBrush(waterfall);
  const [first, last] = drawn ?? view;
  return (
    <div class="overview">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        {...pointer}
      >
        {whole.folds.map(({ at, until }) => (
          <rect key={at} class="fold" x={WIDTH * at} width={WIDTH * (until - at)} height={HEIGHT} />
        ))}
        <path class="activity" d={activity} />
        {lanes.map(({ number, name, from, to, text }) => (
          <g key={number}>
            <title>{text === undefined ? name : `${name} failed: ${text}`}</title>
            <rect
              class={number % 2 === 0 ? "lane even" : "lane"}
              x={WIDTH * whole.at(from)}
              width={Math.max(1, WIDTH * (whole.at(to) - whole.at(from)))}
              height={LANES}
            />
            {text !== undefined && (
              <rect class="attempt" x={WIDTH * whole.at(to) - 2} width={4} height={LANES + 2} />
            )}
          </g>
        ))}
        <rect class="outside" width={WIDTH * first} height={HEIGHT} />
        <rect class="outside" x={WIDTH * last} width={WIDTH * (1 - last)} height={HEIGHT} />
      </svg>
      <Zoom {...waterfall} />
    </div>
  );
}

/** Draws a part of the line with the pointer. A click shows all of it again. */
function useBrush({ onView }: Waterfall) {
  const start = useRef<number | undefined>(undefined);
  const [drawn, draw] = useState<View>();
  const placeOf = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const drawnTo = (event: PointerEvent): View | undefined => {
    if (start.current === undefined) return undefined;
    const at = placeOf(event);
    return [Math.min(start.current, at), Math.max(start.current, at)];
  };
  return {
    drawn,
    onPointerDown: (event: PointerEvent) => {
      start.current = placeOf(event);
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => draw(drawnTo(event)),
    onPointerUp: (event: PointerEvent) => {
      const [first, last] = drawnTo(event) ?? WHOLE;
      start.current = undefined;
      draw(undefined);
      onView(last - first < DRAWN_MIN ? WHOLE : viewOf((first + last) / 2, last - first));
    },
  };
}

/** Buttons and keys that change which part of the line is shown, and which one that is. */
function Zoom({ view: [first, last], whole, onView }: Waterfall) {
  const [middle, width] = [(first + last) / 2, last - first];
  const isWhole = width === 1;
  const zoom = (by: number) => onView(viewOf(middle, width * by));
  const move = (by: number) => onView(viewOf(middle + by * width, width));
  useKeys("Waterfall", {
    "+": { label: "Zoom in", run: () => zoom(1 / ZOOM) },
    "-": { label: "Zoom out", run: () => zoom(ZOOM) },
    "<": { label: "Earlier", run: () => move(-1 / ZOOM) },
    ">": { label: "Later", run: () => move(1 / ZOOM) },
  });
  return (
    <span class="zoom">
      <Button icon="add" label="Zoom in" onPress={() => zoom(1 / ZOOM)} />
      {!isWhole && (
        <>
          <Button icon="remove" label="Zoom out" onPress={() => zoom(ZOOM)} />
          <Button icon="left" label="Earlier" onPress={() => move(-1 / ZOOM)} />
          <Button icon="right" label="Later" onPress={() => move(1 / ZOOM)} />
          <button type="button" onClick={() => onView(WHOLE)}>All</button>
          <span class="quiet" role="status">{partText(whole, [first, last])}</span>
        </>
      )}
    </span>
  );
}

function Button({ icon, label, onPress }: {
  readonly icon: IconName;
  readonly label: string;
  readonly onPress: () => void;
}) {
  return (
    <button type="button" class="icon" aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}

function partText({ from, momentAt }: Timeline, [first, last]: View): string {
  const offset = (place: number) => durationText(Math.max(0, momentAt(place) - from));
  return `${offset(first)} to ${offset(last)}`;
}

/** How many steps went on in each part of the line. */
function activityOf(steps: readonly Step[], line: Timeline): readonly number[] {
  const changes = new Array<number>(PARTS + 1).fill(0);
  const partOf = (ms: number) => Math.min(PARTS - 1, Math.floor(PARTS * line.at(ms)));
  for (const { at, endedAt, result } of steps) {
    if (at === undefined) continue;
    const end = result === "pending" ? line.to : Date.parse(endedAt ?? at);
    changes[partOf(Date.parse(at))]! += 1;
    changes[partOf(end) + 1]! -= 1;
  }
  let count = 0;
  return changes.slice(0, PARTS).map((change) => count += change);
}

/** Counts as one shape of bars, from the bottom. */
function pathOf(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  const room = HEIGHT - LANES - 4;
  const width = WIDTH / PARTS;
  return counts.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(2, (room * count) / most);
    return `M${at * width} ${HEIGHT}v${-height}h${width}v${height}z`;
  }).join("");
}
