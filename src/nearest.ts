/** Why a name cannot be read: that nothing is called so, and what was probably meant. */
export function noSuch(typed: string, known: readonly string[]): string {
  return `no such option${didYouMean(typed, known)}`;
}

/** `, did you mean "…"`, to be put behind a complaint about a misspelled name. May be empty. */
export function didYouMean(typed: string, known: readonly string[]): string {
  return meant(nearest(typed, known));
}

/** The same for names whose parts say nothing on their own: only the whole name is compared. */
export function didYouMeanName(typed: string, known: readonly string[]): string {
  return meant(nearestName(typed, known));
}

function meant(names: readonly string[]): string {
  const list = names.map((name) => `"${name}"`).join(" or ");
  return list && `, did you mean ${list}`;
}

/** Characters of a name from outside that are looked at and shown. */
const SHOWN_MAX = 100;

/**
 * What is said of a name that nothing reads: that it is unknown, and what was probably meant.
 * Printable ASCII without double quotes, so that it may be the value of a header.
 */
export function unknownName(kind: string, typed: string, known: readonly string[]): string {
  const name = typed.slice(0, SHOWN_MAX);
  const meant = nearest(name, known).map((one) => `'${one}'`).join(" or ");
  const shown = name.replaceAll(/[^\x20\x21\x23-\x7e]/g, "?");
  return `unknown ${kind} '${shown}'${meant === "" ? "" : `, did you mean ${meant}?`}`;
}

/** The known paths most likely meant by a misspelled one, the likeliest first. May be none. */
export function nearest(typed: string, known: readonly string[]): readonly string[] {
  const key = lastPart(typed);
  // A key with a wrong or missing section most likely still has the right last part.
  const sameKey = known.filter((name) => lastPart(name) === key);
  return sameKey.length > 0 ? sameKey : nearestName(typed, known);
}

function nearestName(typed: string, known: readonly string[]): readonly string[] {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(typed.length / 5)) + 1;
  for (const name of known) {
    const steps = distance(typed, name);
    if (steps < least) [best, least] = [name, steps];
  }
  return best === undefined ? [] : [best];
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).replace(/^--/, "");
}

/** Letters to insert, drop or replace to turn one text into the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
