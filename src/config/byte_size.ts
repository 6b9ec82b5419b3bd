const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};
const BINARY = ["GiB", "MiB", "KiB"] as const;

/**
 * Bytes meant by `32MiB`, `1.5 GB` or `4096`, in any case
 * (docs/spec/runtimes.md#sources-of-settings: `1KB` is 1000 bytes, `1KiB` is 1024). Undefined: not
 * a size, or not a whole number of bytes.
 */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "none"];
  if (!match || unit === undefined) return undefined;
  const bytes = Number(match[1]) * unit;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest exact spelling: `32MiB`, or a plain number when no unit divides it. */
export function printByteSize(bytes: number): string {
  for (const unit of BINARY) {
    const size = UNITS[unit.toLowerCase()]!;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}
