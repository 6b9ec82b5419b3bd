import { durationText } from "../../../widgets/duration.ts";
import type { Step } from "../steps.ts";
import type { Timeline } from "../timeline.ts";
import type { Failures } from "../attempts.ts";

/** Steps that are drawn; beyond, their number. */
export const SVG_STEPS_MAX = 1_000;
/** Characters of a step. */
const LABEL_MAX = 48;
/** Places in the drawing, in pixels. */
const [ROW, TOP, LABELS, LINE, WIDTH, BAR_MIN] = [20, 56, 380, 700, 1_200, 2];
/** Of the light theme: a file has no other. */
const COLORS: Readonly<Record<Step["result"], string>> = {
  none: "#515b66",
  pending: "#6a3ba3",
  success: "#0b57b0",
  failure: "#b3261e",
};

export interface Drawing {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly line: Timeline;
  readonly failures: Failures;
}

/** The waterfall of a journal as an SVG document that stands for itself, light, without scripts. */
export function waterfallSvg({ title, steps, line, failures }: Drawing): string {
  const shown = steps.slice(0, SVG_STEPS_MAX);
  const more = steps.length - shown.length;
  const height = TOP + (shown.length + (more > 0 ? 1 : 0)) * ROW + 8;
  const rows = shown.map((step, at) => rowOf(step, TOP + at * ROW, line, failures));
  const folded = line.folds.map(({ ms }) => durationText(ms)).join(", ");
  const about = `${durationText(line.to - line.from)} in all${folded && `, folded: ${folded}`}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" ` +
    `height="${height}" font-family="monospace" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    textAt(8, 20, title, `font-weight="bold"`),
    textAt(8, 40, about, `fill="#515b66"`),
    ...line.folds.map(({ at, until }) =>
      `<rect x="${LABELS + LINE * at}" y="${TOP}" width="${LINE * (until - at)}" ` +
      `height="${shown.length * ROW}" fill="#e3e8ee"/>`
    ),
    ...rows,
    ...(more > 0 ? [textAt(8, TOP + shown.length * ROW + 14, `and ${more} more steps`)] : []),
    "</svg>",
  ].join("\n");
}

function rowOf(step: Step, y: number, line: Timeline, failures: Failures): string {
  const { index, code, at, endedAt, result } = step;
  const label = textAt(8, y + 14, `${index} ${code}`.slice(0, LABEL_MAX));
  if (at === undefined) return label;
  const [from, to] = [Date.parse(at), result === "pending" ? line.to : Date.parse(endedAt ?? at)];
  const x = LABELS + LINE * line.at(from);
  const width = Math.max(BAR_MIN, LABELS + LINE * line.at(to) - x);
  const paint = result === "pending"
    ? `fill="none" stroke="${COLORS.pending}" stroke-dasharray="4 3"`
    : `fill="${COLORS[result]}"`;
  const marks = (failures.get(index) ?? []).map(({ at: ms }) =>
    `<rect x="${LABELS + LINE * line.at(ms)}" y="${y + 1}" width="${BAR_MIN}" height="18" ` +
    `fill="${COLORS.failure}"/>`
  );
  const word = result === "none" ? "" : ` ${result}`;
  const took = durationText(Math.max(0, to - from)) + word;
  return [
    label,
    `<rect x="${x}" y="${y + 5}" width="${width}" height="10" ${paint}/>`,
    ...marks,
    textAt(LABELS + LINE + 8, y + 14, took, `fill="#515b66"`),
  ].join("");
}

function textAt(x: number, y: number, text: string, more = ""): string {
  return `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`;
}

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A text as XML. Characters that XML cannot have, and marks of direction, become a replacement. */
function escaped(text: string): string {
  const allowed = Array.from(text, (char) => FORBIDDEN.test(char) ? "\ufffd" : char).join("");
  return allowed.replaceAll(/[&<>]/g, (sign) => SIGNS[sign]!);
}

// By its own code unit: a surrogate without its other half is forbidden, a pair is not.
const FORBIDDEN = /^(?:\p{Cc}|\p{Cs}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff])$/u;
