import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const FILE = path.resolve(import.meta.dirname, "../../src/ui/css/theme.css");
const BACKS = ["back", "raised", "pressed"];
const STATUSES = [
  ...["running", "retrying", "suspended", "waiting", "paused", "succeeded", "failed"],
];
const TEXTS = ["text", "quiet", "accent", "danger", ...STATUSES];
const CONTRAST_MIN = 4.5;
/** In CIELAB. Two colors side by side differ to the eye from 2.3 on, small ones apart from about 10. */
const DIFFERENCE_MIN = 10;

type Color = readonly [r: number, g: number, b: number];

/** A color as linear light, from 0 to 1. */
function linear(hex: string): Color {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return [r, g, b];
}

const luminance = ([r, g, b]: Color) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** The contrast of WCAG 2. */
function contrast(one: Color, other: Color): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** As it is seen without the receptors for green (Machado, Oliveira and Fernandes 2009). */
function deuteranopic([r, g, b]: Color): Color {
  const within = (value: number) => Math.max(0, Math.min(1, value));
  return [
    within(0.367322 * r + 0.860646 * g - 0.227968 * b),
    within(0.280085 * r + 0.672501 * g + 0.047413 * b),
    within(-0.01182 * r + 0.04294 * g + 0.968881 * b),
  ];
}

/** In CIELAB, under daylight. */
function lab([r, g, b]: Color): Color {
  const f = (t: number) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(luminance([r, g, b]));
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function difference(one: Color, other: Color): number {
  const [a, b] = [lab(one), lab(other)];
  return Math.hypot(...a.map((value, at) => value - b[at]!));
}

/** The colors of the file, for light (0) and dark (1). */
function colorsOf(scheme: 0 | 1): ReadonlyMap<string, Color> {
  const [first = ""] = readFileSync(FILE, "utf8").split("}");
  const found = first.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g);
  return new Map([...found].map(([, name = "", ...both]) => [name, linear(both[scheme]!)]));
}

describe.each([["light", 0], ["dark", 1]] as const)("the colors of %s", (_, scheme) => {
  const colors = colorsOf(scheme);
  const of = (name: string) => {
    const color = colors.get(name);
    if (!color) throw new Error(`There is no color ${name}`);
    return color;
  };

  test("can be read on every background", () => {
    for (const text of TEXTS) {
      for (const back of BACKS) {
        expect(contrast(of(text), of(back)), `${text} on ${back}`).toBeGreaterThanOrEqual(
          CONTRAST_MIN,
        );
      }
    }
    expect(contrast(of("on-accent"), of("accent"))).toBeGreaterThanOrEqual(CONTRAST_MIN);
  });

  test.each([["everybody", (color: Color) => color], ["who sees no green", deuteranopic]] as const)(
    "tell statuses apart, to %s",
    (_, seen) => {
      for (const [at, one] of STATUSES.entries()) {
        for (const other of STATUSES.slice(at + 1)) {
          expect(difference(seen(of(one)), seen(of(other))), `${one} and ${other}`)
            .toBeGreaterThanOrEqual(DIFFERENCE_MIN);
        }
      }
    },
  );
});
