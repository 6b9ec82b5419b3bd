import { useState } from "preact/hooks";
import { actOnOne } from "../../data/act.ts";
import { type Command, COMMANDS, labelFor } from "../../data/commands.ts";
import type { Invocation } from "../../data/invocations.ts";
import type { Keys } from "../../state/keys.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { statusOf } from "../../widgets/status.tsx";

/** Commands that have a button in the row. All have keys. */
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
  const actionsOf = (row: Invocation) =>
    commandsFor(row).slice(0, BUTTONS_MAX).map(([command, label]) => (
      <button
        key={command.verb}
        type="button"
        tabIndex={-1}
        onClick={() => start(command, row)}
      >
        {label}
        {command.isDangerous ? "…" : ""}
      </button>
    ));
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
