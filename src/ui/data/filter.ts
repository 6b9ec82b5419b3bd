/** One term of a filter line: `status:retrying,paused`, `-service:Cart`, or a free text. */
export interface Term {
  /** Absent: free text. */
  readonly field?: string;
  /** What is typed behind the colon. Several with commas between: any of them. */
  readonly values: readonly string[];
  /** With `-` in front: what matches is left out. */
  readonly isNot: boolean;
  /** As it was typed. */
  readonly source: string;
}

const TERM = /(-?)(?:([a-z][a-z-]*):)?((?:"(?:\\.|[^"\\])*"|[^\s"])+|"[^"]*$)/gi;
const VALUE = /"((?:\\.|[^"\\])*)"?|([^,"]+)/g;

/** Reads a filter line. What looks like a field and is none of `fields` is free text. */
export function parseFilter(text: string, fields: readonly string[]): Term[] {
  return [...text.matchAll(TERM)].map(([source, not, field, rest = ""]): Term => {
    const name = field?.toLowerCase();
    const isField = name !== undefined && fields.includes(name);
    const values = valuesOf(isField || field === undefined ? rest : `${field}:${rest}`, isField);
    return { ...(isField && { field: name }), values, isNot: not === "-", source };
  }).filter(({ values }) => values.length > 0);
}

function valuesOf(text: string, isList: boolean): string[] {
  if (!isList && !text.startsWith('"')) return [text];
  const values = [...text.matchAll(VALUE)].map(([, quoted, plain]) =>
    quoted === undefined ? plain ?? "" : quoted.replaceAll(/\\(.)/g, "$1")
  );
  return isList ? values : values.filter((value) => value !== "");
}

/** A term as it is typed. A value with a space, comma or quotation mark is quoted. */
export function termText(field: string, values: readonly string[], isNot = false): string {
  const quoted = values.map((value) =>
    /^[^\s,"]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, (char) => `\\${char}`)}"`
  );
  return `${isNot ? "-" : ""}${field}:${quoted.join(",")}`;
}

/** A filter line with a term for a field, in place of those it has. Without values they are taken out. */
export function withTerm(
  text: string,
  { field, values, fields }: {
    readonly field: string;
    readonly values: readonly string[];
    readonly fields: readonly string[];
  },
): string {
  const others = parseFilter(text, fields).filter((term) => term.field !== field);
  const sources = others.map(({ source }) => source);
  if (values.length > 0) sources.push(termText(field, values));
  return sources.join(" ");
}

/** A duration such as `90s`, `10m`, `2h` or `1d` in ms. Undefined: it is none. */
export function shortDurationMs(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (unit === undefined) return undefined;
  const factors: Readonly<Record<string, number>> = {
    ...{ ms: 1, s: 1_000, m: 60_000 },
    ...{ h: 3_600_000, d: 86_400_000 },
  };
  return Number(digits) * factors[unit]!;
}
