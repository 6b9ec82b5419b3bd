import { useState } from "preact/hooks";
import { actOnOne } from "../../data/act.ts";
import { type Command, COMMANDS, labelFor } from "../../data/commands.ts";
import type { Invocation } from "../../data/invocations.ts";
import type { Keys } from "../../state/keys.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { statusOf } from "../../widgets/status.tsx";

/** Commands that have a button in the row; the others are in a menu. All have keys. */
const BUTTONS_MAX = 3;

const commandsFor = (row: Invocation) => {
  const status = statusOf(row);
  return COMMANDS.filter(({ statuses }) => statuses.includes(status))
    .map((command) => [command, labelFor(command, status)] as const);
};

/** What can be done to one row of the list where it stands: by buttons, by keys, and what is asked before. */
export function useRowCommands(onDone: () => void) {
  const [asked, ask] = useState<{ readonly command: Command; readonly row: Invocation }>();
  const start = (command: Command, row: Invocation) =>
    command.isDangerous ? ask({ command, row }) : void actOnOne(command, row.id, onDone);
  const keysOf = (row: Invocation): Keys =>
    Object.fromEntries(
      commandsFor(row).map(([command, label]) =>
        [command.key, { label, run: () => start(command, row) }] as const
      ),
    );
  const actionsOf = (row: Invocation) => {
    const actions = commandsFor(row).map(([command, label]) => ({
      ...{ label: command.isDangerous ? `${label}…` : label, isDangerous: command.isDangerous },
      run: () => start(command, row),
    }));
    return (
      <>
        {actions.slice(0, BUTTONS_MAX).map(({ label, run }) => (
          <button key={label} type="button" tabIndex={-1} onClick={run}>{label}</button>
        ))}
        <Menu label="More actions" items={actions.slice(BUTTONS_MAX)} isReached={false} />
      </>
    );
  };
  const question = asked && (
    <Confirm
      title={`${asked.command.label} ${asked.row.target}`}
      action={asked.command.label}
      onConfirm={() => void actOnOne(asked.command, asked.row.id, onDone)}
      onClose={() => ask(undefined)}
    >
      <p>{asked.command.about}</p>
      <p>
        <code class="text">{asked.row.id}</code>
      </p>
    </Confirm>
  );
  return { keysOf, actionsOf, question };
}
