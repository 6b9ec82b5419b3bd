import { Icon } from "./icon.tsx";

/** A name and a value that somebody types, such as a header. */
export type Pair = readonly [name: string, value: string];

/** Pairs of names and values to edit, with a row for each. `title`: what they are, such as "Headers". */
export function Pairs({ title, pairs, onChange }: {
  readonly title: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}) {
  const set = (at: number, pair: Pair) => onChange(pairs.with(at, pair));
  return (
    <fieldset class="pairs">
      <legend>{title}</legend>
      {pairs.map(([name, value], at) => (
        <div key={at} class="pair">
          <input
            aria-label={`${title}: name ${at + 1}`}
            placeholder="name"
            value={name}
            onInput={({ currentTarget }) => set(at, [currentTarget.value, value])}
          />
          <input
            aria-label={`${title}: value ${at + 1}`}
            placeholder="value"
            value={value}
            onInput={({ currentTarget }) => set(at, [name, currentTarget.value])}
          />
          <button
            type="button"
            class="icon"
            aria-label={`Remove ${name || `row ${at + 1}`}`}
            onClick={() => onChange(pairs.toSpliced(at, 1))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...pairs, ["", ""]])}>Add one</button>
    </fieldset>
  );
}

/** The pairs that have a name, as a record. */
export function recordOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map(([name, value]) => [name.trim(), value]).filter(([name]) => name !== ""),
  );
}
