/** What the value of an option may be: why a text is none of it, or undefined. */
export type OptionKind = (text: string) => string | undefined;

/** Any text. */
export const text: OptionKind = () => undefined;

/** Any text but an empty one. */
export const nonempty: OptionKind = (given) =>
  given.trim() === "" ? "must not be empty" : undefined;

/** As librdkafka reads it. */
export const flag: OptionKind = (given) =>
  /^(true|t|1|false|f|0)$/i.test(given)
    ? undefined
    : `must be "true" or "false", not "${shown(given)}"`;

/** Whether the text of a `flag` is a yes. */
export const isTrue = (given: string): boolean => /^(true|t|1)$/i.test(given);

/** A whole number within limits. */
export function range(least: number, most: number): OptionKind {
  return (given) => {
    const value = /^-?\d{1,15}$/.test(given) ? Number(given) : NaN;
    if (value >= least && value <= most) return undefined;
    return `must be a whole number from ${least} to ${most}, not "${shown(given)}"`;
  };
}

/** One of some words, in upper or lower case. */
export function oneOf(...words: readonly string[]): OptionKind {
  return (given) =>
    words.includes(given.toLowerCase())
      ? undefined
      : `must be one of ${words.join(", ")}, not "${shown(given)}"`;
}

/** Words separated by commas. */
export function listOf(...words: readonly string[]): OptionKind {
  const one = oneOf(...words);
  return (given) => given.split(",").map((word) => one(word.trim())).find(Boolean);
}

/** A text that a pattern describes. `expected` completes "must be …". */
export function matching(pattern: RegExp, expected: string): OptionKind {
  return (given) => pattern.test(given) ? undefined : `must be ${expected}, not "${shown(given)}"`;
}

const SHOWN_MAX = 60;

/** The beginning of a value, for a message. */
function shown(given: string): string {
  return given.length > SHOWN_MAX ? `${given.slice(0, SHOWN_MAX)}…` : given;
}
