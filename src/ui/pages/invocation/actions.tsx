import { useState } from "preact/hooks";
import { actOnOne } from "../../data/act.ts";
import { type Command, COMMANDS, labelFor } from "../../data/commands.ts";
import type { Invocation } from "../../data/invocations.ts";
import { useKeys } from "../../state/keys.ts";
import { Confirm } from "../../widgets/dialog.tsx";
import { statusOf } from "../../widgets/status.tsx";

/** What can be done to an invocation where it stands. What cannot be undone is asked about first. */
export function Actions({ row, onDone }: {
  readonly row: Invocation;
  readonly onDone: () => void;
}) {
  const [question, ask] = useState<Command>();
  const status = statusOf(row);
  const commands = COMMANDS.filter(({ statuses }) => statuses.includes(status));
  const start = (command: Command) =>
    command.isDangerous ? ask(command) : void actOnOne(command, row.id, onDone);
  useKeys(
    "Invocation",
    Object.fromEntries(
      commands.map((
        command,
      ) => [command.key, { label: labelFor(command, status), run: () => start(command) }]),
    ),
  );
  return (
    <>
      {commands.map((command) => (
        <button
          key={command.verb}
          type="button"
          class={command.isDangerous ? "danger" : "primary"}
          onClick={() => start(command)}
        >
          {labelFor(command, status)}
          {command.isDangerous ? "…" : ""}
        </button>
      ))}
      {question && (
        <Ask
          command={question}
          onConfirm={() => void actOnOne(question, row.id, onDone)}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  );
}

function Ask({ command: { label, about }, ...then }: {
  readonly command: Command;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Confirm title={`${label} this invocation`} action={label} {...then}>
      <p>{about}</p>
    </Confirm>
  );
}
