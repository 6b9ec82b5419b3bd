import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useGet } from "../data/hooks.ts";
import { go } from "../state/router.ts";
import { Dialog } from "../widgets/dialog.tsx";
import { Icon } from "../widgets/icon.tsx";
import { type Choice, choicesFor, type Service } from "./choices.ts";

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

function close(): void {
  isOpen.value = false;
}

/** Goes to a page, an id, a service or a key, or does something: found as one types. */
export function Palette() {
  return (
    <Dialog title="Go to" isOpen={isOpen.value} onClose={close} isPlain>
      {isOpen.value && <Finder />}
    </Dialog>
  );
}

/** The choices for a text, and which of them is marked. */
function useChoices(text: string) {
  const [at, move] = useState(0);
  const { data } = useGet<{ services: Service[] }>("services");
  const choices = choicesFor(text, data?.services ?? []);
  useEffect(() => move(0), [text]);
  const step = (by: number) => move((at + by + choices.length) % Math.max(1, choices.length));
  return { choices, at: Math.min(at, choices.length - 1), step };
}

function take(choice: Choice | undefined): void {
  if (!choice) return;
  close();
  if (choice.to !== undefined) go(choice.to);
  // When the dialog has given back the focus: an action may open one of its own.
  else if (choice.run) setTimeout(choice.run);
}

function Finder() {
  const [text, type] = useState("");
  const { choices, at, step } = useChoices(text);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Enter") take(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        autofocus
        class="wide"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices[at] ? `choice-${at}` : undefined}
        aria-label="Page, id, service, key or action"
        placeholder="Page, inv_…, dp_…, service, service/key or action"
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Choices choices={choices} at={at} onTake={take} />
    </>
  );
}

function Choices({ choices, at, onTake }: {
  readonly choices: readonly Choice[];
  readonly at: number;
  readonly onTake: (choice: Choice) => void;
}) {
  return (
    <ul id="choices" role="listbox" aria-label="Found" class="choices">
      {choices.map((choice, index) => (
        <li
          key={`${choice.kind} ${choice.label}`}
          id={`choice-${index}`}
          role="option"
          aria-selected={index === at}
          onClick={() => onTake(choice)}
        >
          <Icon name={choice.icon} /> {choice.label} <small>{choice.kind}</small>
        </li>
      ))}
    </ul>
  );
}
