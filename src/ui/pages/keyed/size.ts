const UNITS = ["B", "KB", "MB", "GB"];
const STEP = 1_000;

/** A size in bytes, for people: `85 B`, `1.2 KB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= STEP && unit < UNITS.length - 1) [value, unit] = [value / STEP, unit + 1];
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
