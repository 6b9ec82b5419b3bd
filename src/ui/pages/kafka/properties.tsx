import { useId } from "preact/hooks";

/** Names and values, as properties of a cluster and options of a subscription have them. */
export type Properties = Readonly<Record<string, string>>;

/** One a line: `name=value`. A line break within a value, as keys have them, is `\n`. */
export function linesOf(properties: Properties): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value.replaceAll("\n", "\\n")}`).join("\n");
}

/** What lines say, or the first of them that says nothing. */
export type Read = { readonly properties: Properties } | { readonly problem: string };

/** Reads such lines. */
export function propertiesOf(lines: string): Read {
  const properties: Record<string, string> = {};
  for (const line of lines.split("\n").map((one) => one.trim()).filter((one) => one !== "")) {
    const at = line.indexOf("=");
    if (at < 1) return { problem: `No “name=value”: ${line}` };
    properties[line.slice(0, at).trim()] = line.slice(at + 1).trim().replaceAll("\\n", "\n");
  }
  return { properties };
}

/** What changes options from one set to another: null removes one. */
export function changesOf(before: Properties, after: Properties): Record<string, string | null> {
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value);
  const removed = Object.keys(before).filter((name) => !(name in after));
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]);
}

/** A field for them. */
export function PropertiesField({ label, hint, lines, onChange }: {
  readonly label: string;
  readonly hint: string;
  readonly lines: string;
  readonly onChange: (lines: string) => void;
}) {
  const id = useId();
  const read = propertiesOf(lines);
  return (
    <div class="entry">
      <label>
        {label}
        <textarea
          rows={6}
          spellcheck={false}
          aria-describedby={id}
          value={lines}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      <small id={id}>{hint}</small>
      {"problem" in read && <p role="alert" class="text">{read.problem}</p>}
    </div>
  );
}
