/** Times in ms since the epoch, places on the line from 0 to 1. */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  /** Where a moment is. */
  readonly at: (ms: number) => number;
  /** Which moment is at a place. */
  readonly momentAt: (place: number) => number;
  /** Long stretches in which nothing happened, drawn short. */
  readonly folds: readonly Fold[];
}

/** A part of a line that is shown on all of its width: two places, the first one smaller. */
export type View = readonly [from: number, to: number];

/** All of a line. */
export const WHOLE: View = [0, 1];

/** A line of which a part is shown: what is outside of it is below 0 or above 1. */
export function zoomed(line: Timeline, [first, last]: View): Timeline {
  if (first === 0 && last === 1) return line;
  const width = last - first;
  const placed = (place: number) => (place - first) / width;
  return {
    ...line,
    at: (ms) => placed(line.at(ms)),
    momentAt: (place) => line.momentAt(first + place * width),
    folds: line.folds.map((fold) => ({ ...fold, at: placed(fold.at), until: placed(fold.until) })),
  };
}

/** The narrowest part that can be shown. */
const VIEW_MIN = 0.001;

/** A part of the line with its middle and width, moved so that it is within the line. */
export function viewOf(middle: number, width: number): View {
  const wide = Math.min(1, Math.max(VIEW_MIN, width));
  const first = Math.min(1 - wide, Math.max(0, middle - wide / 2));
  return [first, first + wide];
}

/** Digits behind a millisecond that the text of a part has: a line may take one millisecond in all. */
const DIGITS = 3;
/** What is this near to an end of the line is at it, in spite of the digits that are left out. */
const NEAR = VIEW_MIN / 2;

/**
 * A part of a line as a text for the address: `12.5-400`, in ms from the first moment, `12.5-` up to
 * the end, which may move. Empty: all of it.
 */
export function viewText({ from, momentAt }: Timeline, [first, last]: View): string {
  if (first < NEAR && last > 1 - NEAR) return "";
  const offset = (place: number) => Number((momentAt(place) - from).toFixed(DIGITS));
  return `${offset(first)}-${last > 1 - NEAR ? "" : offset(last)}`;
}

/** The part of a line that a text of `viewText` means. All of it for any other text. */
export function viewIn({ from, at }: Timeline, text: string): View {
  const [, first, last] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(text) ?? [];
  if (first === undefined) return WHOLE;
  const begin = at(from + Number(first));
  const end = last === undefined ? 1 : at(from + Number(last));
  return end > begin ? viewOf((begin + end) / 2, end - begin) : WHOLE;
}

export interface Fold {
  readonly at: number;
  readonly until: number;
  /** How long it was. */
  readonly ms: number;
}

/** A stretch this many times as long as the median is folded. */
const FOLD_FACTOR = 5;
/** Shorter stretches are shown as they are. */
const FOLD_MS = 1_000;
/** The share of the line that a fold takes, and all of them together. */
const FOLD_SHARE = 0.06;
const FOLDS_SHARE = 0.5;

/**
 * A line for moments: linear, but for stretches between two of them that are much longer than the
 * others, which would leave nothing of the rest. `isFolding`: false for the true scale.
 */
export function timelineOf(moments: readonly number[], isFolding: boolean): Timeline {
  const points = [...new Set(moments)].sort((a, b) => a - b);
  const [from = 0, to = from] = [points[0], points.at(-1)];
  const lengths = points.slice(1).map((point, i) => point - points[i]!);
  const isFolded = foldedOf(lengths, isFolding);
  const folded = isFolded.filter(Boolean).length;
  const share = folded === 0 ? 0 : Math.min(FOLD_SHARE, FOLDS_SHARE / folded);
  const busy = lengths.reduce((sum, length, i) => sum + (isFolded[i] ? 0 : length), 0) || 1;
  // If all is folded, folds take the whole line.
  const scale = lengths.every((_, i) => isFolded[i]) ? 0 : (1 - share * folded) / busy;
  const fold = scale === 0 ? 1 / Math.max(1, folded) : share;
  const places = [0];
  lengths.forEach((length, i) => places.push(places[i]! + (isFolded[i] ? fold : length * scale)));
  return {
    from,
    to,
    at: (ms) => between(ms, points, places),
    momentAt: (place) => between(place, places, points),
    folds: lengths.flatMap((ms, i) =>
      isFolded[i] ? [{ at: places[i]!, until: places[i + 1]!, ms }] : []
    ),
  };
}

function foldedOf(lengths: readonly number[], isFolding: boolean): readonly boolean[] {
  const sorted = lengths.toSorted((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const limit = Math.max(FOLD_MS, FOLD_FACTOR * median);
  return lengths.map((length) => isFolding && lengths.length > 1 && length > limit);
}

/**
 * What belongs to a value, linear between two that are known: `from` and `to` have the same order. Found
 * by halving, for journals are long.
 */
function between(value: number, from: readonly number[], to: readonly number[]): number {
  let [low, high] = [0, from.length - 1];
  if (high < 1 || value <= from[0]!) return to[0] ?? 0;
  if (value >= from[high]!) return to[high]!;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle]! <= value) low = middle;
    else high = middle;
  }
  const share = (value - from[low]!) / (from[high]! - from[low]! || 1);
  return to[low]! + share * (to[high]! - to[low]!);
}
