import { useEffect, useId, useRef, useState } from "preact/hooks";
import { parseFilter, type Term } from "../data/filter.ts";
import { useKeys } from "../state/keys.ts";
import { Icon } from "./icon.tsx";

/** A field that can be filtered by. */
export interface Field {
  readonly name: string;
  /** What it means and how a value is written, for the list of fields. */
  readonly about: string;
  /** Values to choose from, if they are few. */
  readonly values?: readonly string[];
}

export interface FilterLineProps {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly text: string;
  /** Called with the whole line when it is entered, or a chip is removed. */
  readonly onChange: (text: string) => void;
  /** Terms that mean nothing, by their source: shown as such. */
  readonly problems?: ReadonlyMap<string, string>;
}

/** A line such as `service:Greeter status:retrying,paused error:"503"`, with a chip for each term. */
export function FilterLine({ label, fields, text, onChange, problems }: FilterLineProps) {
  const [typed, type] = useState(text);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => type(text), [text]);
  useKeys("Filter", { "/": { label: "Filter", run: () => input.current?.focus() } });
  const enter = (event: Event) => {
    event.preventDefault();
    onChange(typed.trim());
  };
  return (
    <form class="filter" role="search" onSubmit={enter}>
      <div class="line">
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          class="wide"
          aria-label={label}
          placeholder={fields.map(({ name }) => `${name}:…`).slice(0, 5).join(" ")}
          list={list}
          value={typed}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onBlur={() => typed.trim() !== text && onChange(typed.trim())}
          onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
        />
        <datalist id={list}>
          {suggestions(typed, fields).map((one) => <option key={one} value={one} />)}
        </datalist>
      </div>
      <Chips {...{ label, fields, text, onChange, ...(problems && { problems }) }} />
    </form>
  );
}

/** What holds now, each with a button that removes it. */
function Chips({ fields, text, onChange, problems }: FilterLineProps) {
  const terms = parseFilter(text, fields.map(({ name }) => name));
  const without = (gone: Term) =>
    terms.filter((term) => term !== gone).map(({ source }) => source).join(" ");
  return (
    <div class="chips">
      {terms.map((term) => (
        <Chip
          key={term.source}
          term={term}
          problem={problems?.get(term.source)}
          onRemove={() => onChange(without(term))}
        />
      ))}
    </div>
  );
}

function Chip({ term, problem, onRemove }: {
  readonly term: Term;
  readonly problem: string | undefined;
  readonly onRemove: () => void;
}) {
  return (
    <span class={problem === undefined ? "chip" : "chip problem"}>
      {problem !== undefined && <Icon name="warning" />}
      <bdi>{term.source}</bdi>
      {problem !== undefined && <small>{problem}</small>}
      <button type="button" class="icon" aria-label={`Remove ${term.source}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  );
}

/** The line with its last word completed: by names of fields, or by the values of its field. */
function suggestions(typed: string, fields: readonly Field[]): string[] {
  const [, before = "", last = ""] = /^(.*?)(\S*)$/.exec(typed) ?? [];
  const [, name, list = ""] = /^-?([a-z-]+):(.*)$/.exec(last) ?? [];
  if (name === undefined) {
    return fields.filter((field) => field.name.startsWith(last)).map((field) =>
      `${before}${field.name}:`
    );
  }
  const values = fields.find((field) => field.name === name)?.values ?? [];
  const start = list.slice(0, list.lastIndexOf(",") + 1);
  const part = list.slice(start.length);
  return values.filter((value) => value.startsWith(part))
    .map((value) => `${before}${name}:${start}${value}`);
}
