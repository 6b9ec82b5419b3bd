const ANY = "…";

/**
 * Whether a command printed what a page says. JSON is compared by value, so layout and order of fields
 * do not count; other text word by word. `…` stands for anything: within a string or text for any
 * characters, as a field name for further fields, as the last item of a list for further items.
 */
export function matches(printed: string, expected: string): boolean {
  const [actual, wanted] = [parsed(printed), parsed(expected)];
  if (actual && wanted) return fits(actual.value, wanted.value);
  return pattern(words(expected)).test(words(printed));
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function fits(actual: unknown, wanted: unknown): boolean {
  if (wanted === ANY) return true;
  if (typeof wanted === "string") return typeof actual === "string" && pattern(wanted).test(actual);
  if (typeof wanted !== "object" || wanted === null) return actual === wanted;
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(wanted)) return Array.isArray(actual) && fitsList(actual, wanted);
  const { [ANY]: more, ...fields } = wanted as Record<string, unknown>;
  const values = actual as Record<string, unknown>;
  const hasOnly = more !== undefined || Object.keys(values).every((name) => name in fields);
  return hasOnly &&
    Object.entries(fields).every(([name, one]) => name in values && fits(values[name], one));
}

function fitsList(actual: readonly unknown[], wanted: readonly unknown[]): boolean {
  const items = wanted.at(-1) === ANY ? wanted.slice(0, -1) : wanted;
  const hasRoom = items.length < wanted.length
    ? actual.length >= items.length
    : actual.length === items.length;
  return hasRoom && items.every((item, at) => fits(actual[at], item));
}

function words(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

function pattern(text: string): RegExp {
  const pieces = text.split(ANY).map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*")}$`);
}
