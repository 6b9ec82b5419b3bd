import { setQuery } from "../state/router.ts";

/** A choice of how far back figures reach, which the address has. The first one is there without. */
export function Ranges<Name extends string>({ ranges, chosen }: {
  /** By their names in the address, how they are called. */
  readonly ranges: Readonly<Record<Name, string>>;
  readonly chosen: Name;
}) {
  const names = Object.keys(ranges) as Name[];
  return (
    <fieldset class="ranges">
      <legend class="hidden">Time</legend>
      {names.map((name) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="range"
            checked={name === chosen}
            onChange={() => setQuery({ range: name === names[0] ? undefined : name })}
          />
          {ranges[name]}
        </label>
      ))}
    </fieldset>
  );
}
