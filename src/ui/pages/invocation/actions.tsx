import { useState } from "preact/hooks";
import { actOnOne } from "../../data/act.ts";
import { COMMANDS, labelFor } from "../../data/commands.ts";
import { useKeys } from "../../state/keys.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { Menu, type MenuItem } from "../../widgets/menu.tsx";
import { statusOf } from "../../widgets/status.tsx";
import type { Whole } from "./data.ts";
import { moreActions, type Question } from "./more_actions.ts";

/** Commands that have a button; the others are in the menu. */
const BUTTONS_MAX = 3;

interface Props {
  readonly row: Whole;
  readonly onDone: () => void;
}

/** Commands for an invocation where it stands, which have keys as well. */
function useCommands({ row, onDone }: Props, ask: (question: Question) => void) {
  const status = statusOf(row);
  const commands = COMMANDS.filter(({ statuses }) => statuses.includes(status)).map((command) => {
    const run = () => void actOnOne(command, row.id, onDone);
    const title = `${command.label} this invocation`;
    const start = () => command.isDangerous ? ask({ ...command, title, run }) : run();
    return { ...command, label: labelFor(command, status), start };
  });
  const keys = commands.map(({ key, label, start }) => [key, { label, run: start }] as const);
  useKeys("Invocation", Object.fromEntries(keys));
  return commands;
}

/** What can be done to an invocation. What cannot be undone is asked about first. */
export function Actions({ row, onDone }: Props) {
  const [question, ask] = useState<Question>();
  const commands = useCommands({ row, onDone }, ask);
  const others = commands.slice(BUTTONS_MAX).map(({ label, isDangerous, start }): MenuItem => ({
    label: isDangerous ? `${label}…` : label,
    run: start,
    isDangerous,
  }));
  return (
    <>
      {commands.slice(0, BUTTONS_MAX).map(({ verb, label, isDangerous, start }) => (
        <button
          key={verb}
          type="button"
          class={isDangerous ? "danger" : "primary"}
          onClick={start}
        >
          {label}
          {isDangerous ? "…" : ""}
        </button>
      ))}
      <Menu
        label="More actions"
        items={[...others, ...moreActions(row, onDone, ask)]}
      />
      {question && (
        <Confirm
          title={question.title}
          action={question.label}
          onConfirm={question.run}
          onClose={() => ask(undefined)}
        >
          <p>{question.about}</p>
        </Confirm>
      )}
    </>
  );
}
